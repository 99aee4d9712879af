"""A language model of characters: an LSTM of Haiku over time steps."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from benchmarks.accuracy.step import Program, Step

WORDS, WIDTH, LENGTH, BATCH = 96, 256, 128, 16


def build(flags):
    wide = jnp.float64 if "float64" in flags else jnp.float32
    batch = BATCH // 2 if "half the batch" in flags else BATCH

    def forward(tokens):
        core, embed = hk.LSTM(WIDTH), hk.Embed(WORDS, WIDTH)
        x = embed(tokens) if "embedded before" in flags else tokens
        inputs = (lambda rows: rows) if "embedded before" in flags else embed

        def step(each, state):
            return core(inputs(each), state)

        cell = step if "no checkpoint" in flags else hk.remat(step)
        state = core.initial_state(tokens.shape[1])
        if hk.running_init():
            _, state = step(x[0], state)
            hidden = embed(tokens)
        else:
            hidden, state = hk.scan(lambda s, each: cell(each, s)[::-1], state, x)[::-1]
        return hk.Linear(WORDS)(hidden), state

    model = hk.without_apply_rng(hk.transform(forward))
    tokens = jax.ShapeDtypeStruct((LENGTH, batch), jnp.int32)
    params = jax.eval_shape(model.init, jax.random.key(0), tokens)
    params = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, wide), params)
    optimizer = optax.adam(1e-3)
    state = jax.eval_shape(optimizer.init, params)

    def loss(params, tokens):
        logits, _ = model.apply(params, tokens)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits[:-1], tokens[1:])
        return losses.mean(), logits

    def train(params, state, tokens):
        (value, logits), gradients = jax.value_and_grad(loss, has_aux=True)(params, tokens)
        updates, state = optimizer.update(gradients, state, params)
        new = optax.apply_updates(params, updates)
        return (new, state, value, logits) if "logits returned" in flags else (new, state, value)

    donate = () if "not donated" in flags else (0, 1)
    return Step(train, (params, state, tokens), donate, x64="float64" in flags)


PROGRAM = Program(
    mistakes={
        "no checkpoint": "checkpoint",
        "embedded before": "computed ahead",
        "float64": "wide types",
        "not donated": "donation",
        "logits returned": "output",
    },
    edits={"half the batch": "batch"},
    predictions={"half the batch": ("--batch-of", "tokens:1", "--batch", "2")},
)
