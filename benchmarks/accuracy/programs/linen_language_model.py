"""A language model of Flax Linen, trained with Optax's Adam."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.accuracy.step import Program, Step

WORDS, WIDTH, LAYERS, LENGTH, BATCH = 8192, 128, 4, 128, 8


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x), mask=mask)
        h = nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x)))
        return x + nn.Dense(WIDTH)(h)


class Model(nn.Module):
    in_one_loop: bool = True
    checkpointed: bool = True

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(WORDS, WIDTH)(tokens)
        block = nn.remat(Block, prevent_cse=not self.in_one_loop) if self.checkpointed else Block
        if self.in_one_loop:
            layers = nn.scan(
                lambda module, carry, _: (module(carry), None),
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=LAYERS,
            )
            x, _ = layers(block(), x, None)
        else:
            for _ in range(LAYERS):
                x = block()(x)
        return nn.LayerNorm()(x)


def build(flags):
    model = Model("unrolled" not in flags, "no checkpoint" not in flags)
    optimizer = optax.adam(1e-3)
    head = jax.ShapeDtypeStruct((WIDTH, WORDS), jnp.float32)
    batch = BATCH // 2 if "half the batch" in flags else BATCH
    tokens = jax.ShapeDtypeStruct((batch, LENGTH), jnp.int32)
    positions = np.random.default_rng(0).normal(size=(40_000, WIDTH)).astype(np.float32)

    def loss_of_part(params, hidden, targets):
        logits = hidden @ params["head"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).sum()

    def loss(params, tokens):
        hidden = model.apply(params["body"], tokens)
        if "constant" in flags:
            hidden = hidden + jnp.take(positions, tokens[0, :] + 7, axis=0)
        hidden, targets = hidden[:, :-1], tokens[:, 1:]
        if "full logits" in flags:
            logits = hidden @ params["head"]
            return optax.softmax_cross_entropy_with_integer_labels(logits, targets).sum()
        part = jax.checkpoint(lambda of: loss_of_part(params, *of))
        return jax.lax.map(part, (hidden, targets)).sum()

    def train(params, state, tokens):
        value, gradients = jax.value_and_grad(loss)(params, tokens)
        updates, state = optimizer.update(gradients, state, params)
        new = optax.apply_updates(params, updates)
        if "reader" in flags:
            moved = jax.tree.map(lambda a, b: jnp.sort((a - b).ravel())[-8:], new, params)
            return new, state, value, moved
        if "gradients returned" in flags:
            return new, state, value, gradients
        return new, state, value

    body = jax.eval_shape(model.init, jax.random.key(0), tokens)
    params = {"body": body, "head": head}
    state = jax.eval_shape(optimizer.init, params)
    donate = () if "not donated" in flags else (0, 1)
    return Step(train, (params, state, tokens), donate)


PROGRAM = Program(
    mistakes={
        "not donated": "donation",
        "full logits": "logits",
        "no checkpoint": "checkpoint",
        "reader": "reader",
        "constant": "constant",
        "gradients returned": "output",
    },
    edits={"half the batch": "batch"},
    predictions={"half the batch": ("--batch-of", "tokens", "--batch", "2")},
)
