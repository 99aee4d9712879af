"""Low-rank adapters of frozen weights, trained with Optax."""

import jax
import jax.numpy as jnp
import optax

from benchmarks.accuracy.step import Program, Step

LAYERS, WIDTH, RANK, BATCH = 4, 512, 8, 64


def build(flags):
    def shape(*lengths):
        return jax.ShapeDtypeStruct(lengths, jnp.float32)

    frozen = [shape(WIDTH, WIDTH)] * LAYERS
    adapters = [(shape(WIDTH, RANK), shape(RANK, WIDTH))] * LAYERS
    optimizer = optax.sgd(1e-1)
    state = jax.eval_shape(optimizer.init, adapters)

    def loss(frozen, adapters, x, y):
        for w, (down, up) in zip(frozen, adapters, strict=True):
            x = jnp.tanh(x @ w + x @ down @ up)
        return ((x - y) ** 2).mean(), x

    def train(frozen, adapters, state, x, y):
        of = jax.grad(loss, (0, 1) if "gradients of frozen" in flags else 1, has_aux=True)
        gradients, _ = of(frozen, adapters, x, y)
        others = ()
        if "gradients of frozen" in flags:
            others, gradients = gradients
        updates, state = optimizer.update(gradients, state, adapters)
        adapters = optax.apply_updates(adapters, updates)
        if "frozen returned" in flags:
            return adapters, state, frozen
        return adapters, state, others

    batch = shape(BATCH, WIDTH)
    return Step(train, (frozen, adapters, state, batch, batch), (1, 2))


PROGRAM = Program(mistakes={"gradients of frozen": "output", "frozen returned": "output"})
