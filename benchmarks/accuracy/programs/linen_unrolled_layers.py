"""Layers of Flax Linen that are unrolled, with a checkpoint around each."""

from collections.abc import Set as AbstractSet

import flax.linen as nn
import jax
import jax.numpy as jnp

from benchmarks.accuracy.step import Program, Step

WIDTH, LAYERS, BATCH = 256, 8, 2048


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(2 * WIDTH)(nn.LayerNorm()(x)))
        return x + nn.Dense(WIDTH)(nn.tanh(h))


class LayerOfLoop(Layer):
    @nn.compact
    def __call__(self, x, _):
        return super().__call__(x), None


class Model(nn.Module):
    checkpointed: bool
    is_loop: bool

    @nn.compact
    def __call__(self, x):
        if self.is_loop:
            layers = nn.scan(
                nn.remat(LayerOfLoop, prevent_cse=False),
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=LAYERS,
            )
            return layers()(x, None)[0]
        layer = nn.remat(Layer) if self.checkpointed else Layer
        for _ in range(LAYERS):
            x = layer()(x)
        return x


def build(flags: AbstractSet[str]) -> Step:
    model = Model("no checkpoint" not in flags, "layers in a loop" in flags)
    x = jax.ShapeDtypeStruct(
        (BATCH // 2 if "half the batch" in flags else BATCH, WIDTH), jnp.float32
    )
    params = jax.eval_shape(model.init, jax.random.key(0), x)

    def train(params, x):
        value, gradients = jax.value_and_grad(lambda p: (model.apply(p, x) ** 2).mean())(params)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        return new, value

    in_memory_order = "checkpoint undone by order" not in flags
    options = (
        {}
        if not in_memory_order
        else {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    )
    return Step(train, (params, x), (0,), options)


PROGRAM = Program(
    mistakes={"no checkpoint": "checkpoint", "checkpoint undone by order": "order"},
    edits={"half the batch": "batch", "layers in a loop": "unrolled"},
    predictions={
        "half the batch": ("--batch-of", "x", "--batch", "2"),
        "checkpoint undone by order": ("--schedule", "memory"),
    },
)
