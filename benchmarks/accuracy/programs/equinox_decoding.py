"""Decoding with Equinox: one token at a time, with a cache of keys and values."""

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.accuracy.step import Program, Step

LAYERS, LENGTH, BATCH, HEADS, SIZE, WORDS, NEW = 4, 512, 4, 4, 32, 1024, 32
WIDTH = HEADS * SIZE


class Layer(eqx.Module):
    qkv: eqx.nn.Linear
    out: eqx.nn.MLP

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.qkv = eqx.nn.Linear(WIDTH, 3 * WIDTH, key=first)
        self.out = eqx.nn.MLP(WIDTH, WIDTH, 2 * WIDTH, 1, key=second)


def build(flags):
    make = eqx.filter_vmap(Layer)
    layers = eqx.filter_eval_shape(make, jax.random.split(jax.random.key(0), LAYERS))
    params, static = eqx.partition(layers, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    through_xs = "cache through xs" in flags

    def attend(layer, x, keys, values, position):
        q, k, v = jnp.split(jax.vmap(layer.qkv)(x), 3, axis=-1)
        q, k, v = (each.reshape(BATCH, HEADS, SIZE) for each in (q, k, v))
        keys = jax.lax.dynamic_update_index_in_dim(keys, k, position, 1)
        values = jax.lax.dynamic_update_index_in_dim(values, v, position, 1)
        scores = jnp.einsum("bhd,blhd->bhl", q, keys) / SIZE**0.5
        seen = jnp.arange(LENGTH)[None, None, :] <= position
        weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
        mixed = jnp.einsum("bhl,blhd->bhd", weights, values).reshape(BATCH, WIDTH)
        return x + jax.vmap(layer.out)(mixed), keys, values

    def token(params, table, cache, ids, position):
        x = table[ids]

        def of_xs(x, of):
            layer, keys, values = of
            x, keys, values = attend(eqx.combine(layer, static), x, keys, values, position)
            return x, (keys, values)

        def of_carry(carry, of):
            x, keys, values = carry
            layer, i = of
            x, k, v = attend(eqx.combine(layer, static), x, keys[i], values[i], position)
            place = (i, 0, position, 0, 0)
            k = jax.lax.dynamic_slice_in_dim(k, position, 1, 1)[None]
            v = jax.lax.dynamic_slice_in_dim(v, position, 1, 1)[None]
            keys = jax.lax.dynamic_update_slice(keys, k, place)
            values = jax.lax.dynamic_update_slice(values, v, place)
            return (x, keys, values), None

        if through_xs:
            x, cache = jax.lax.scan(of_xs, x, (params, *cache))
        else:
            (x, *cache), _ = jax.lax.scan(of_carry, (x, *cache), (params, jnp.arange(LAYERS)))
        return jnp.argmax(x @ table.T, axis=-1), tuple(cache)

    def decode(params, table, cache, ids, start):
        def step(carry, i):
            ids, cache = carry
            old = cache[0].sum() if "reader in loop" in flags else None
            if "reader before" in flags:
                old = cache[0].sum()
                ids = ids + (0.0 * old).astype(ids.dtype)
            ids, cache = token(params, table, cache, ids, start + i)
            if {"reader in loop", "reader before"} & flags:
                return (ids, cache), (ids, cache[0].max() - old)
            return (ids, cache), ids

        (ids, cache), written = jax.lax.scan(step, (ids, cache), jnp.arange(NEW))
        return cache, written

    cache = jax.ShapeDtypeStruct((LAYERS, BATCH, LENGTH, HEADS, SIZE), jnp.float32)
    arguments = (
        params,
        jax.ShapeDtypeStruct((WORDS, WIDTH), jnp.float32),
        (cache, cache),
        jax.ShapeDtypeStruct((BATCH,), jnp.int32),
        jax.ShapeDtypeStruct((), jnp.int32),
    )
    return Step(decode, arguments, () if "not donated" in flags else (2,))


PROGRAM = Program(
    mistakes={"cache through xs": "cache", "not donated": "donation", "reader in loop": "reader"},
    fixes={"reader in loop": "reader before"},
)
