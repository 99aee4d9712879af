"""One training step of a small language model: the program behind the example runs."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

Params = dict[str, jax.Array | list[dict[str, jax.Array]]]


class Model(NamedTuple):
    """Sizes of the model and of one batch."""

    layers: int = 2
    width: int = 512
    heads: int = 8
    vocabulary: int = 8192
    tokens: int = 512
    batch: int = 8
    remat: bool = False


class Adam(NamedTuple):
    """State of the optimiser: the step and both moments of every parameter."""

    step: jax.Array
    mean: Params
    variance: Params


def init_params(key: jax.Array, model: Model) -> Params:
    """Return random parameters."""
    embed_key, *layer_keys = jax.random.split(key, model.layers + 1)

    def weights(key: jax.Array, rows: int, columns: int) -> jax.Array:
        return jax.random.normal(key, (rows, columns)) * rows**-0.5

    def init_layer(key: jax.Array) -> dict[str, jax.Array]:
        keys = jax.random.split(key, 4)
        return {
            "qkv": weights(keys[0], model.width, 3 * model.width),
            "out": weights(keys[1], model.width, model.width),
            "up": weights(keys[2], model.width, 4 * model.width),
            "down": weights(keys[3], 4 * model.width, model.width),
        }

    return {
        "embedding": weights(embed_key, model.vocabulary, model.width),
        "layers": [init_layer(key) for key in layer_keys],
    }


def init_adam(params: Params) -> Adam:
    """Return the state before the first step: both moments are zero."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    return Adam(jnp.zeros((), jnp.int32), zeros, jax.tree.map(jnp.zeros_like, params))


def normalise(x: jax.Array) -> jax.Array:
    """Scale each token to unit mean square."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def attention(x: jax.Array, layer: dict[str, jax.Array], heads: int) -> jax.Array:
    """Return causal self-attention over the tokens."""
    batch, tokens, width = x.shape
    qkv = (x @ layer["qkv"]).reshape(batch, tokens, 3, heads, width // heads)
    query, key, value = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (width // heads) ** -0.5
    seen = jnp.tril(jnp.ones((tokens, tokens), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value)
    return mixed.reshape(x.shape) @ layer["out"]


def mlp(x: jax.Array, layer: dict[str, jax.Array]) -> jax.Array:
    """Run the two layers of a perceptron with GELU between them."""
    return jax.nn.gelu(x @ layer["up"]) @ layer["down"]


def block(x: jax.Array, layer: dict[str, jax.Array], heads: int) -> jax.Array:
    """Run one layer of the model."""
    with jax.named_scope("attention"):
        x = x + attention(normalise(x), layer, heads)
    with jax.named_scope("mlp"):
        return x + mlp(normalise(x), layer)


def loss(params: Params, batch: jax.Array, model: Model) -> jax.Array:
    """Return the mean cross-entropy of the next token."""
    run_block = jax.checkpoint(block, static_argnums=2) if model.remat else block
    with jax.named_scope("embed"):
        x = params["embedding"][batch[:, :-1]]
    for number, layer in enumerate(params["layers"]):
        with jax.named_scope(f"layer_{number}"):
            x = run_block(x, layer, model.heads)
    with jax.named_scope("head"):
        logits = normalise(x) @ params["embedding"].T
        log_probabilities = jax.nn.log_softmax(logits)
        chosen = jnp.take_along_axis(log_probabilities, batch[:, 1:, None], axis=-1)
        return -jnp.mean(chosen)


def apply_adam(params: Params, grads: Params, state: Adam, rate: float) -> tuple[Params, Adam]:
    """Return parameters and state after a step of Adam."""
    step = state.step + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mean, grads)
    variance = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state.variance, grads)
    scale = rate * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    params = jax.tree.map(
        lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, mean, variance
    )
    return params, Adam(step, mean, variance)


def train_step_of(model: Model) -> Callable[..., tuple[jax.Array, Params, Adam]]:
    """Make the training step for a model."""

    def train_step(params: Params, state: Adam, batch: jax.Array) -> tuple[jax.Array, Params, Adam]:
        value, grads = jax.value_and_grad(loss)(params, batch, model)
        with jax.named_scope("adam"):
            params, state = apply_adam(params, grads, state, rate=1e-3)
        return value, params, state

    return train_step
