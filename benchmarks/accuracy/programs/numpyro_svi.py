"""Stochastic variational inference of NumPyro: several updates in one loop."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from benchmarks.accuracy.step import Program, Step

ROWS, FEATURES, UPDATES = 20_000, 64, 100


def build(flags):
    def model(x, y):
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(FEATURES), 1.0).to_event(1))
        offsets = numpyro.sample("offsets", dist.Normal(jnp.zeros(2000), 1.0).to_event(1))
        with numpyro.plate("rows", ROWS):
            mean = x @ weights + jnp.tile(offsets, ROWS // 2000)
            numpyro.sample("y", dist.Normal(mean, 1.0), obs=y)

    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(1e-3), Trace_ELBO(num_particles=4))
    wide = jnp.float64 if "float64" in flags else jnp.float32
    x = jax.ShapeDtypeStruct((ROWS, FEATURES), wide)
    y = jax.ShapeDtypeStruct((ROWS,), wide)
    zeros = (jnp.zeros(x.shape, wide), jnp.zeros(y.shape, wide))
    state = svi.init(jax.random.key(0), *zeros)
    data = np.random.default_rng(0).normal(size=(ROWS, FEATURES)).astype(wide)

    def fit(state, x, y):
        if "constant" in flags:
            x = data

        def step(state, _):
            state, loss = svi.update(state, x, y)
            every = svi.get_params(state) if "trajectory" in flags else None
            return state, (loss, every)

        return jax.lax.scan(step, state, None, length=UPDATES)

    return Step(fit, (state, x, y), (0,), x64="float64" in flags)


PROGRAM = Program(
    mistakes={"trajectory": "output", "constant": "constant", "float64": "wide types"}
)
