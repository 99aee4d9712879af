"""A wave equation in plain JAX: two fields in a loop."""

import jax
import jax.numpy as jnp

from benchmarks.accuracy.step import Program, Step

SIZE, STEPS = 1024, 100


def laplacian(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u


def build(flags):
    def simulate(before, now):
        if "swap" in flags:

            def step(_, fields):
                before, now = fields
                return now, 2 * now - before + 0.1 * laplacian(now)

            return jax.lax.fori_loop(0, STEPS, step, (before, now))

        def advance(fields, _):
            before, now = fields
            before = 2 * now - before + 0.1 * laplacian(now)
            now = 2 * before - now + 0.1 * laplacian(before)
            return (before, now), now if "trajectory" in flags else None

        (before, now), kept = jax.lax.scan(advance, (before, now), None, length=STEPS // 2)
        return before, now, None if kept is None else kept[-1] - kept[0]

    wide = jnp.float64 if "float64" in flags else jnp.float32
    field = jax.ShapeDtypeStruct((SIZE, SIZE), wide)
    donate = () if "not donated" in flags else (0, 1)
    return Step(simulate, (field, field), donate, x64="float64" in flags)


PROGRAM = Program(
    mistakes={
        "swap": "swap",
        "trajectory": "trajectory",
        "not donated": "donation",
        "float64": "wide types",
    },
)
