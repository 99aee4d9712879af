"""A perceptron of Flax Linen on eight devices, each with a part of the batch."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from benchmarks.accuracy.step import Program, Step

WIDTH, BATCH, CLASSES = 256, 8192, 64


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = nn.tanh(nn.Dense(WIDTH)(x))
        return nn.Dense(CLASSES)(x)


def build(flags):
    mesh = jax.make_mesh((8,), ("data",))
    model, optimizer = Model(), optax.adam(1e-3)
    batch = BATCH // 2 if "half the batch" in flags else BATCH
    images = jax.ShapeDtypeStruct((batch, WIDTH), jnp.float32)
    labels = jax.ShapeDtypeStruct((batch,), jnp.int32)
    params = jax.eval_shape(model.init, jax.random.key(0), images)
    state = jax.eval_shape(optimizer.init, params)

    def loss(params, images, labels):
        logits = model.apply(params, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    if "checkpoint" in flags:
        loss = jax.checkpoint(loss)

    def train(params, state, images, labels):
        value, gradients = jax.value_and_grad(loss)(params, images, labels)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    whole = NamedSharding(mesh, P())
    parts = whole if "replicated batch" in flags else NamedSharding(mesh, P("data"))
    donate = () if "not donated" in flags else (0, 1)
    arguments = (params, state, images, labels)
    return Step(train, arguments, donate, shardings=(whole, whole, parts, parts))


PROGRAM = Program(
    mistakes={"replicated batch": "replicated", "not donated": "donation"},
    edits={"half the batch": "batch", "checkpoint": "checkpoint"},
    predictions={
        "half the batch": ("--batch-of", "images", "--batch-of", "labels", "--batch", "2")
    },
)
