"""A recommender of Equinox: a large table of which a step reads few rows."""

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.accuracy.step import Program, Step

ITEMS, WIDTH, BATCH = 100_000, 64, 512


def build(flags):
    head = eqx.filter_eval_shape(
        lambda: eqx.nn.MLP(2 * WIDTH, "scalar", 128, 2, key=jax.random.key(0))
    )
    params, static = eqx.partition(head, lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def loss(params, left, right, labels):
        pairs = jnp.concatenate([left, right], axis=1)
        return ((jax.vmap(eqx.combine(params, static))(pairs) - labels) ** 2).mean()

    def of_table(table, params, users, items, labels):
        return loss(params, table[users], table[items], labels)

    def train(params, table, users, items, labels):
        if "dense gradient" in flags:
            gradient, of_head = jax.grad(of_table, (0, 1))(table, params, users, items, labels)
            norm = jnp.sqrt((gradient**2).sum())
            after = table - 0.1 * gradient / jnp.maximum(norm, 1.0)
        else:
            rows = table[users], table[items]
            of_head, *of_rows = jax.grad(loss, (0, 1, 2))(params, *rows, labels)
            norm = jnp.sqrt(sum((each**2).sum() for each in of_rows))
            scale = 0.1 / jnp.maximum(norm, 1.0)
            after = table
            if "reader before" in flags:
                mean = table.mean(0)
                of_rows = [each + 0.0 * mean for each in of_rows]
            for index, each in zip((users, items), of_rows, strict=True):
                after = after.at[index].add(-scale * each)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, params, of_head)
        if "reader before" in flags:
            return new, after, mean - after.mean(0)
        if "reader" in flags:
            return new, after, table.mean(0) - after.mean(0)
        return new, after

    index = jax.ShapeDtypeStruct((BATCH,), jnp.int32)
    arguments = (
        params,
        jax.ShapeDtypeStruct((ITEMS, WIDTH), jnp.float32),
        index,
        index,
        jax.ShapeDtypeStruct((BATCH,), jnp.float32),
    )
    return Step(train, arguments, () if "not donated" in flags else (0, 1))


PROGRAM = Program(
    mistakes={
        "dense gradient": "dense gradient",
        "reader": "reader",
        "not donated": "donation",
    },
    fixes={"reader": "reader before"},
)
