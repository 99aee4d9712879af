"""Hamiltonian Monte Carlo of BlackJAX: many chains, one loop of samples."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.accuracy.step import Program, Step

CHAINS, DIMENSIONS, SAMPLES = 16, 256, 200


def build(flags):
    data = np.random.default_rng(0).normal(size=(10_000, DIMENSIONS)).astype(np.float32)

    def sample(position, key, observed):
        if "constant" in flags:
            observed = data

        def density(x):
            return -0.5 * jnp.sum(x**2) - 0.5 * jnp.mean((observed @ x) ** 2)

        kernel = blackjax.hmc(density, 1e-2, jnp.ones(DIMENSIONS), 4)

        def step(states, key):
            states, info = jax.vmap(kernel.step)(jax.random.split(key, CHAINS), states)
            if "information returned" in flags:
                return states, (states.position, info)
            if "mean" in flags:
                return states, states.position
            return states, states.position[0]

        first = jax.vmap(kernel.init)(position)
        last, kept = jax.lax.scan(step, first, jax.random.split(key, SAMPLES))
        if "mean" in flags:
            return last, kept.mean((0, 1))
        return last, kept

    arguments = (
        jax.ShapeDtypeStruct((CHAINS, DIMENSIONS), jnp.float32),
        jax.eval_shape(lambda: jax.random.key(0)),
        jax.ShapeDtypeStruct(data.shape, jnp.float32),
    )
    return Step(sample, arguments, (0,))


PROGRAM = Program(
    mistakes={"information returned": "output", "constant": "constant", "mean": "trajectory"},
)
