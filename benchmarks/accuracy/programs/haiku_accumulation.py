"""A perceptron of Haiku whose gradients are averaged over microbatches."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from benchmarks.accuracy.step import Program, Step

PARTS, BATCH, WIDTH = 8, 256, 512


def build(flags):
    model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([WIDTH] * 4)(x)))
    x = jax.ShapeDtypeStruct((PARTS, BATCH, WIDTH), jnp.float32)
    params = jax.eval_shape(
        model.init, jax.random.key(0), jax.ShapeDtypeStruct(x.shape[1:], x.dtype)
    )
    optimizer = optax.sgd(1e-2, momentum=0.9)
    state = jax.eval_shape(optimizer.init, params)

    def loss(params, x):
        return (model.apply(params, x) ** 2).mean()

    def train(params, state, x):
        if "list of gradients" in flags:
            each = [jax.grad(loss)(params, part) for part in x]
            gradients = jax.tree.map(lambda *g: jnp.stack(g).mean(0), *each)
        elif "stack of gradients" in flags:
            each = jax.lax.map(lambda part: jax.grad(loss)(params, part), x)
            gradients = jax.tree.map(lambda g: g.mean(0), each)
        else:

            def add(total, part):
                gradient = jax.grad(loss)(params, part)
                return jax.tree.map(lambda t, g: t + g / PARTS, total, gradient), None

            gradients, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, params), x)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    return Step(train, (params, state, x), () if "not donated" in flags else (0, 1))


PROGRAM = Program(
    mistakes={
        "list of gradients": "stack",
        "stack of gradients": "stack",
        "not donated": "donation",
    },
)
