"""A classifier of Flax NNX, trained with clipped gradients of each example."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from benchmarks.accuracy.step import Program, Step

WIDTH, BATCH = 256, 64


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(784, WIDTH, rngs=rngs)
        self.second = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
        self.head = nnx.Linear(WIDTH, 10, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.second(nnx.relu(self.first(x)))))


def build(flags):
    graph, params = nnx.split(nnx.eval_shape(lambda: Classifier(nnx.Rngs(0))), nnx.Param)
    batch = BATCH // 2 if "half the batch" in flags else BATCH
    optimizer = optax.sgd(0.1, momentum=0.9)

    def loss(params, image, label):
        logits = nnx.merge(graph, params)(image)
        return optax.softmax_cross_entropy_with_integer_labels(logits, label)

    def clipped(params, image, label):
        gradients = jax.grad(loss)(params, image, label)
        scale = jnp.minimum(1.0, 1.0 / optax.global_norm(gradients))
        return jax.tree.map(lambda g: g * scale, gradients)

    def train(params, state, images, labels):
        if "each example" in flags:
            each = jax.vmap(clipped, (None, 0, 0))(params, images, labels)
            gradients = jax.tree.map(lambda g: g.sum(0), each)
        else:
            zeros = jax.tree.map(jnp.zeros_like, params)

            def add(total, example):
                return jax.tree.map(jnp.add, total, clipped(params, *example)), None

            gradients, _ = jax.lax.scan(add, zeros, (images, labels))
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    images = jax.ShapeDtypeStruct((batch, 784), jnp.float32)
    labels = jax.ShapeDtypeStruct((batch,), jnp.int32)
    state = jax.eval_shape(optimizer.init, params)
    donate = () if "not donated" in flags else (0, 1)
    return Step(train, (params, state, images, labels), donate)


PROGRAM = Program(
    mistakes={"each example": "per-example", "not donated": "donation"},
    edits={"half the batch": "batch"},
    predictions={
        "half the batch": ("--batch-of", "images", "--batch-of", "labels", "--batch", "2")
    },
)
