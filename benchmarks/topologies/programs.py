"""Programs with the edits that findings about them name, as their users write them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import ShapeDtypeStruct as Shape

__all__ = ["Case", "Program", "cases"]

F32, BF16 = jnp.float32, jnp.bfloat16


@dataclass(frozen=True)
class Program:
    """A function, the shapes of its arguments, and options of `jax.jit`."""

    function: Callable[..., object]
    arguments: tuple[Any, ...]
    donated: tuple[int, ...] = ()
    chooses_layouts: bool = False
    """True if the compiler chooses the layouts of arguments and results."""


@dataclass(frozen=True)
class Case:
    """A program, the beginning of the title of a finding, and the program after its edit."""

    name: str
    program: Program
    title: str
    edit: str
    edited: Program
    others: Mapping[str, Program] = field(default_factory=dict)
    """Programs after the same edit in another place, by its name."""


def decoding(*, chooses_layouts: bool = False) -> Program:
    """Return a loop that writes into the key-value cache of 12 layers, and attends over it."""
    batch, layers, tokens, heads, width = 16, 12, 2048, 12, 64

    def layer(hidden, weight, keys, values, place):
        query = (hidden @ weight).reshape(batch, heads, width)
        keys = jax.lax.dynamic_update_slice(keys, query[:, :, None], (0, 0, place, 0))
        values = jax.lax.dynamic_update_slice(values, query[:, :, None], (0, 0, place, 0))
        scores = jax.nn.softmax(jnp.einsum("bhd,bhtd->bht", query, keys).astype(F32))
        read = jnp.einsum("bht,bhtd->bhd", scores.astype(BF16), values)
        return hidden + read.reshape(batch, heads * width), keys, values

    def decode(weights, cache, hidden):
        def token(carry, _):
            hidden, keys, values, place = carry
            keys, values = list(keys), list(values)
            for each in range(layers):
                hidden, keys[each], values[each] = layer(
                    hidden, weights[each], keys[each], values[each], place
                )
            return (hidden, keys, values, place + 1), hidden.sum()

        (_, keys, values, _), sums = jax.lax.scan(
            token, (hidden, *cache, jnp.int32(0)), None, length=32
        )
        return (keys, values), sums

    one = [Shape((batch, heads, tokens, width), BF16)] * layers
    weights = Shape((layers, heads * width, heads * width), BF16)
    hidden = Shape((batch, heads * width), BF16)
    return Program(decode, (weights, (one, one), hidden), (1,), chooses_layouts)


def language_model(*, checkpoint: bool = False, parts: int = 1, turns: int = 1) -> Program:
    """Return a training step of four blocks of attention, and logits of 32,000 words.

    The loss is computed in parts of the tokens, an attention in as many turns for its queries.
    """
    batch, tokens, width, heads, words = 8, 1024, 768, 12, 32_000
    optimizer = optax.adamw(1e-3)

    def block(hidden, weights):
        with jax.named_scope("attention"):
            split = (hidden @ weights["qkv"]).reshape(batch, tokens, 3, heads, -1)
            query, key, value = jnp.moveaxis(split, 2, 0)

            @jax.checkpoint if turns > 1 else lambda function: function
            def attend(query):
                scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / 8
                return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)

            if turns > 1:
                queries = query.reshape(batch, turns, -1, heads, width // heads)
                read = jax.lax.map(attend, jnp.moveaxis(queries, 1, 0))
                read = jnp.moveaxis(read, 0, 1)
            else:
                read = attend(query)
            hidden += read.reshape(batch, tokens, width) @ weights["out"]
        with jax.named_scope("mlp"):
            return hidden + jax.nn.gelu(hidden @ weights["up"]) @ weights["down"]

    def loss(parameters, ids):
        cast = jax.tree.map(lambda each: each.astype(BF16), parameters)
        hidden = cast["words"][ids[:, :-1]]
        for number, weights in enumerate(cast["blocks"]):
            with jax.named_scope(f"block_{number}"):
                hidden = (jax.checkpoint(block) if checkpoint else block)(hidden, weights)

        @jax.checkpoint if parts > 1 else lambda function: function
        def of_part(part):
            logits = (part[0] @ cast["head"]).astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, part[1]).sum()

        rows = hidden.reshape(parts, -1, width), ids[:, 1:].reshape(parts, -1)
        return jax.lax.map(of_part, rows).sum() if parts > 1 else of_part((rows[0][0], rows[1][0]))

    def step(parameters, state, ids):
        value, gradients = jax.value_and_grad(loss)(parameters, ids)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    shapes = {"qkv": (width, 3 * width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    blocks = [{name: Shape(shape, F32) for name, shape in shapes.items()}] * 4
    ends = {"words": Shape((words, width), F32), "head": Shape((width, words), F32)}
    parameters = {**ends, "blocks": blocks}
    state = jax.eval_shape(optimizer.init, parameters)
    return Program(step, (parameters, state, Shape((batch, tokens + 1), jnp.int32)), (0, 1))


def recurrence(*, checkpoint: bool = False, mean_in_carry: bool = False) -> Program:
    """Return the gradients of a recurrence over 512 steps, of whose states the mean is read."""
    steps, batch, width = 512, 256, 1024

    def loss(weights, inputs, wanted):
        def cell(carry, given):
            hidden, memory, total = carry
            gates = given @ weights["in"] + hidden @ weights["hidden"]
            entered, forgot, new, out = jnp.split(gates, 4, -1)
            memory = jax.nn.sigmoid(forgot) * memory + jax.nn.sigmoid(entered) * jnp.tanh(new)
            hidden = jax.nn.sigmoid(out) * jnp.tanh(memory)
            return (hidden, memory, total + hidden), None if mean_in_carry else hidden

        zeros = (jnp.zeros((batch, width)),) * 3
        body = jax.checkpoint(cell) if checkpoint else cell
        (_, _, total), states = jax.lax.scan(body, zeros, inputs)
        mean = total / steps if mean_in_carry else states.mean(0)
        return ((mean - wanted) ** 2).mean()

    weights = {name: Shape((width, 4 * width), F32) for name in ("in", "hidden")}
    arguments = weights, Shape((steps, batch, width), F32), Shape((batch, width), F32)
    return Program(jax.grad(loss), arguments)


def two_networks(checkpoint: str = "") -> Program:
    """Return the gradients of two networks without names."""
    rows, widths = 262_144, (384, 1024, 1024, 1024, 16)

    def layer(hidden, weight):
        return jnp.tanh(hidden @ weight)

    def network(weights, hidden):
        for weight in weights:
            hidden = (jax.checkpoint(layer) if checkpoint == "layer" else layer)(hidden, weight)
        return hidden

    def loss(both, inputs):
        whole = jax.checkpoint(network) if checkpoint == "network" else network
        return sum((whole(weights, inputs) ** 2).mean() for weights in both)

    weights = [Shape((before, after), F32) for before, after in pairwise(widths)]
    return Program(jax.grad(loss), ([weights, weights], Shape((rows, widths[0]), F32)))


def cases() -> Iterator[Case]:
    """Yield all programs with their edits."""
    layouts = "Inputs are copied into another layout"
    yield Case("decoding", decoding(), layouts, "Layout.AUTO", decoding(chooses_layouts=True))
    logits = "Logits of a large vocabulary"
    kept = "Activations are kept"
    model = language_model()
    yield Case("language model", model, logits, "in 8 parts", language_model(parts=8))
    scores = "Attention scores are stored"
    yield Case("language model", model, scores, "in 8 blocks", language_model(turns=8))
    checkpointed = language_model(checkpoint=True)
    yield Case("language model", model, kept, "a checkpoint for each block", checkpointed)
    edited = recurrence(checkpoint=True)
    yield Case("recurrence", recurrence(), kept, "a checkpoint for each step", edited)
    stack = "A loop stacks values of which only a part"
    yield Case("recurrence", recurrence(), stack, "a sum", recurrence(mean_in_carry=True))
    layers = two_networks("layer")
    networks = {"a checkpoint for each network": two_networks("network")}
    yield Case("two networks", two_networks(), kept, "for each layer", layers, networks)
