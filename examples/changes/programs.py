"""Small programs, each with a change, to compare predicted with actual savings."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Shape = jax.ShapeDtypeStruct
Arrays = Any
"""A tree of arrays, or of shapes."""
F32: Final = jnp.float32
BF16: Final = jnp.bfloat16


class Program(NamedTuple):
    """A function to compile, with the shapes of its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    donate: tuple[int, ...] = ()


class Change(NamedTuple):
    """A program, and the same program with a single change."""

    before: Program
    after: Program


def layers(count: int, width: int, dtype: type = F32) -> list[tuple[Shape, Shape]]:
    """Return the shapes of the weights of a perceptron."""
    return [(Shape((width, width), dtype), Shape((width,), dtype)) for _ in range(count)]


def layer(x: Array, weights: tuple[Array, Array]) -> Array:
    """Return the output of a layer."""
    matrix, bias = weights
    return jax.nn.gelu(x @ matrix + bias)


def loss(
    params: Arrays, x: Array, y: Array, wrap: Callable[..., Any] = lambda function: function
) -> Array:
    """Return the loss of a perceptron whose layers are wrapped one by one."""
    for number, weights in enumerate(params):
        with jax.named_scope(f"layer_{number}"):
            x = wrap(layer)(x, weights)
    return jnp.mean((x - y) ** 2)


def scanned_loss(
    params: Arrays, x: Array, y: Array, wrap: Callable[..., Any] = lambda function: function
) -> Array:
    """Return the loss of a perceptron whose layers are stacked and run in a loop."""

    def step(x: Array, weights: tuple[Array, Array]) -> tuple[Array, None]:
        return wrap(layer)(x, weights), None

    x, _ = lax.scan(step, x, params)
    return jnp.mean((x - y) ** 2)


def sgd(loss_function: Callable[..., Array], params: Arrays, x: Array, y: Array) -> Arrays:
    """Return the weights after a step down the gradient."""
    gradients = jax.grad(loss_function)(params, x, y)
    return jax.tree.map(lambda one, other: (one - 0.1 * other).astype(one.dtype), params, gradients)


def adam(params: Arrays, state: Arrays, x: Array, y: Array) -> Arrays:
    """Return weights and state after a step of Adam."""
    first, second = state
    gradients = jax.grad(loss)(params, x, y)
    first = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, first, gradients)
    second = jax.tree.map(lambda old, new: 0.99 * old + 0.01 * new * new, second, gradients)
    params = jax.tree.map(
        lambda one, m, v: one - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second
    )
    return params, (first, second)


def decode(cache: Arrays, x: Array, position: Array) -> Arrays:
    """Return the cache with one more token, and the attention output of it."""
    cache = lax.dynamic_update_slice(cache, x[:, None], (0, position, 0))
    weights = jax.nn.softmax(jnp.einsum("bd,btd->bt", x, cache))
    return cache, jnp.einsum("bt,btd->bd", weights, cache)


def generate(cache: Arrays, x: Array) -> Arrays:
    """Decode a hundred tokens in a loop."""

    def step(state: Arrays) -> Arrays:
        position, cache, x = state
        cache, x = decode(cache, x, position)
        return position + 1, cache, x

    return lax.while_loop(lambda state: state[0] < 100, step, (0, cache, x))


def narrowed(x: Array) -> Array:
    """Return a narrower result, so that no output can overwrite a wide input."""
    return (x * 2).astype(BF16)


def perceptron(count: int, width: int, batch: int, dtype: type = F32) -> tuple[Any, Shape, Shape]:
    """Return shapes of weights, input and target."""
    data = Shape((batch, width), dtype)
    return layers(count, width, dtype), data, data


def stacked(count: int, width: int, batch: int, dtype: type = F32) -> tuple[Any, Shape, Shape]:
    """Return shapes of stacked weights, input and target."""
    data = Shape((batch, width), dtype)
    return (Shape((count, width, width), dtype), Shape((count, width), dtype)), data, data


def scores(table: Array, x: Array) -> Array:
    """Return the scores of tokens from a table of words."""
    return jax.nn.softmax(x @ table.T)


def shardings() -> tuple[NamedSharding, NamedSharding]:
    """Return the sharding of an array that is replicated, and that of one that is split."""
    mesh = Mesh(jax.devices(), ("data",))
    return NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))


def laid_out(tree: Arrays, sharding: NamedSharding) -> Arrays:
    """Return the shapes with a sharding."""
    return jax.tree.map(lambda each: Shape(each.shape, each.dtype, sharding=sharding), tree)


def replicated_and_sharded() -> Change:
    """Return replicated activations, and the same ones sharded."""
    whole, split = shardings()
    weights = laid_out(layers(4, 128), whole)
    batch = Shape((1024, 128), F32)
    step = partial(sgd, loss)
    before, after = (
        Program(step, (weights, *laid_out((batch, batch), data))) for data in (whole, split)
    )
    return Change(before, after)


def weights_and_sharded_weights() -> Change:
    """Return replicated weights and Adam state, and the same sharded."""
    whole, split = shardings()
    weights, x, y = perceptron(4, 256, 512)
    batch = laid_out((x, y), split)

    before, after = (
        Program(adam, (*laid_out((weights, (weights, weights)), held), *batch))
        for held in (whole, split)
    )
    return Change(before, after)


def table_and_sharded_table() -> Change:
    """Return a replicated table next to sharded tokens, and a sharded table."""
    whole, split = shardings()
    tokens = Shape((256, 128), F32, sharding=split)
    before, after = (
        Program(scores, (Shape((4096, 128), F32, sharding=held), tokens)) for held in (whole, split)
    )
    return Change(before, after)


def changes() -> dict[str, Change]:
    """Return all changes by name."""
    step = partial(sgd, loss)
    wide_batch = perceptron(6, 128, 512)
    weights, x, y = perceptron(4, 256, 64)
    state = (weights, (weights, weights), x, y)
    cache = Shape((4, 256, 128), F32)
    token = Shape((4, 128), F32)
    plain = Program(step, wide_batch)
    loop = Program(partial(sgd, scanned_loss), stacked(12, 128, 512))
    narrow_loop = Program(partial(sgd, scanned_loss), stacked(12, 128, 512, BF16))

    def checkpointed(policy: Callable[..., bool]) -> Callable[..., Any]:
        return partial(jax.checkpoint, policy=policy)

    policies = jax.checkpoint_policies

    def with_policy(
        loss_function: Callable[..., Array], program: Program, policy: Callable[..., bool]
    ) -> Program:
        wrapped = partial(loss_function, wrap=checkpointed(policy))
        return program._replace(function=partial(sgd, wrapped))

    merged = partial(jax.checkpoint, prevent_cse=False)
    checkpointed_plain = with_policy(loss, plain, policies.nothing_saveable)

    return {
        "donate_all": Change(Program(adam, state), Program(adam, state, donate=(0, 1))),
        "donate_weights": Change(Program(adam, state), Program(adam, state, donate=(0,))),
        "donate_state": Change(Program(adam, state), Program(adam, state, donate=(1,))),
        "donate_sgd": Change(plain, plain._replace(donate=(0,))),
        "donate_wrong_type": Change(
            Program(narrowed, (Shape((512, 512), F32),)),
            Program(narrowed, (Shape((512, 512), F32),), donate=(0,)),
        ),
        "donate_cache": Change(
            Program(decode, (cache, token, Shape((), jnp.int32))),
            Program(decode, (cache, token, Shape((), jnp.int32)), donate=(0,)),
        ),
        "donate_loop": Change(
            Program(generate, (cache, token)), Program(generate, (cache, token), donate=(0,))
        ),
        "checkpoint_all": Change(plain, checkpointed_plain),
        "checkpoint_in_loop": Change(
            plain,
            with_policy(
                scanned_loss, Program(step, stacked(6, 128, 512)), policies.nothing_saveable
            ),
        ),
        "checkpoint_dots": Change(plain, with_policy(loss, plain, policies.dots_saveable)),
        "checkpoint_scan": Change(loop, with_policy(scanned_loss, loop, policies.nothing_saveable)),
        "checkpoint_scan_dots": Change(
            loop, with_policy(scanned_loss, loop, policies.dots_saveable)
        ),
        "checkpoint_scan_bf16": Change(
            narrow_loop, with_policy(scanned_loss, narrow_loop, policies.nothing_saveable)
        ),
        "checkpoint_merged": Change(
            plain._replace(function=partial(sgd, partial(loss, wrap=merged))), checkpointed_plain
        ),
        "checkpoint_whole": Change(
            plain._replace(function=partial(sgd, jax.checkpoint(loss))), checkpointed_plain
        ),
        "bf16": Change(plain, Program(step, perceptron(6, 128, 512, BF16))),
        "half_batch": Change(plain, Program(step, perceptron(6, 128, 256))),
        "scan_over_layers": Change(Program(step, perceptron(12, 128, 512)), loop),
        "sharding": replicated_and_sharded(),
        "shard_table": table_and_sharded_table(),
        "shard_weights": weights_and_sharded_weights(),
    }
