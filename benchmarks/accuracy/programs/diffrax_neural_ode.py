"""A neural differential equation of Equinox and Diffrax, trained on its final state."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.accuracy.step import Program, Step

STATE, WIDTH, BATCH, STEPS = 64, 128, 256, 64


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.mlp(y) if y.ndim == 1 else jax.vmap(self.mlp)(y)


def build(flags):
    model = eqx.filter_eval_shape(
        lambda: Field(eqx.nn.MLP(STATE, STATE, WIDTH, 2, key=jax.random.key(0)))
    )
    params, static = eqx.partition(model, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    batch = BATCH // 2 if "half the batch" in flags else BATCH
    times = jnp.linspace(0.0, 1.0, STEPS + 1)
    everywhere = "trajectory" in flags or "trajectory returned" in flags

    def solve(field, start):
        adjoint = (
            diffrax.DirectAdjoint()
            if "direct adjoint" in flags
            else diffrax.RecursiveCheckpointAdjoint()
        )
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Heun(),
            0.0,
            1.0,
            1.0 / STEPS,
            start,
            saveat=diffrax.SaveAt(ts=times) if everywhere else diffrax.SaveAt(t1=True),
            adjoint=adjoint,
            max_steps=STEPS,
        )
        return solution.ys

    def loss(params, starts, ends):
        field = eqx.combine(params, static)
        if "vmap of the solver" in flags:
            states = jax.vmap(lambda start: solve(field, start), out_axes=1)(starts)
        else:
            states = solve(field, starts)
        return ((states[-1] - ends) ** 2).mean(), states

    def train(params, starts, ends):
        (value, states), gradients = jax.value_and_grad(loss, has_aux=True)(params, starts, ends)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        return (new, value, states) if "trajectory returned" in flags else (new, value)

    state = jax.ShapeDtypeStruct((batch, STATE), jnp.float32)
    return Step(train, (params, state, state), (0,))


PROGRAM = Program(
    mistakes={
        "vmap of the solver": "per-example",
        "trajectory": "trajectory",
        "trajectory returned": "output",
    },
    edits={"half the batch": "batch", "direct adjoint": "checkpoint"},
    predictions={"half the batch": ("--batch-of", "starts", "--batch-of", "ends", "--batch", "2")},
)
