"""A graph network of Jraph and Haiku over one large graph."""

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import optax

from benchmarks.accuracy.step import Program, Step

NODES, EDGES, KINDS, WIDTH = 10_000, 60_000, 118, 32
PARTS = 8


def build(flags):
    def forward(graph, kinds):
        table = hk.get_parameter("kinds", (KINDS, WIDTH), init=hk.initializers.RandomNormal())
        one_hot = "one-hot" in flags
        nodes = jax.nn.one_hot(kinds, KINDS) @ table if one_hot else table[kinds]

        def update():
            return jraph.concatenated_args(hk.nets.MLP([WIDTH, WIDTH]))

        if "edges at once" in flags:
            layer = jraph.GraphNetwork(update_edge_fn=update(), update_node_fn=update())
            return layer(graph._replace(nodes=nodes))
        edge, node = update(), update()

        def part(sums, rows):
            edges, senders, receivers = rows
            messages = edge(edges, nodes[senders], nodes[receivers])
            sent, received = sums
            sums = sent.at[senders].add(messages), received.at[receivers].add(messages)
            return sums, messages if "messages returned" in flags else None

        rows = jax.tree.map(
            lambda each: each.reshape(PARTS, -1, *each.shape[1:]),
            (graph.edges, graph.senders, graph.receivers),
        )
        zeros = jnp.zeros((NODES, WIDTH))
        part = hk.remat(part) if flags.isdisjoint(("no checkpoint", "one checkpoint")) else part
        (sent, received), messages = hk.scan(part, (zeros, zeros), rows)
        return graph._replace(nodes=node(nodes, sent, received), edges=messages)

    model = hk.without_apply_rng(hk.transform(forward))

    def f32(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def i32(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.int32)

    graph = jraph.GraphsTuple(
        nodes=f32(NODES, WIDTH),
        edges=f32(EDGES, 8),
        senders=i32(EDGES),
        receivers=i32(EDGES),
        n_node=i32(1),
        n_edge=i32(1),
        globals=None,
    )
    kinds = i32(NODES)
    params = jax.eval_shape(model.init, jax.random.key(0), graph, kinds)
    optimizer = optax.adam(1e-3)
    state = jax.eval_shape(optimizer.init, params)

    def loss(params, graph, kinds):
        result = model.apply(params, graph, kinds)
        return (result.nodes**2).mean(), result.edges

    if "one checkpoint" in flags:
        loss = jax.checkpoint(loss)

    def train(params, state, graph, kinds):
        (value, messages), gradients = jax.value_and_grad(loss, has_aux=True)(params, graph, kinds)
        updates, state = optimizer.update(gradients, state, params)
        new = optax.apply_updates(params, updates)
        return (
            (new, state, value, messages) if "messages returned" in flags else (new, state, value)
        )

    return Step(train, (params, state, graph, kinds), (0, 1))


PROGRAM = Program(
    mistakes={
        "one-hot": "broadcast",
        "messages returned": "output",
        "edges at once": "gathered rows",
        "one checkpoint": "checkpoint",
        "no checkpoint": "checkpoint",
    },
)
