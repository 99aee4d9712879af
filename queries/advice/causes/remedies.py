"""The words of the edits, by framework."""

from collections.abc import Mapping
from typing import Final

__all__ = ["IDLE", "INFLATED", "LARGE", "LOGITS", "PER_EXAMPLE", "REPLICATED"]

PER_EXAMPLE: Final[Mapping[str, str]] = {
    "jax": "Sum the gradients as they are made: jax.lax.scan over examples or small groups of them,"
    " with the sum as carry, instead of jax.vmap(jax.grad(...)) over the whole batch"
    " (jax.lax.map(f, xs, batch_size=8) for groups). If only norms are needed, compute these.",
    "tensorflow": "Loop over small groups of examples (tf.while_loop or tf.map_fn) and add up"
    " clipped gradients, instead of tf.vectorized_map or tape.jacobian over the batch.",
    "pytorch": "Give torch.func.vmap a chunk_size, or accumulate clipped gradients over"
    " microbatches.",
}
LOGITS: Final[Mapping[str, str]] = {
    "jax": "Compute the loss a part of the tokens at a time: reshape to (parts, tokens, d) and use"
    " jax.lax.map(jax.checkpoint(loss_of_part), parts), so that the logits of one part exist at a"
    " time, in the backward pass too; compute the logits only of tokens that count.",
    "tensorflow": "Compute the loss a part of the tokens at a time in a tf.while_loop, with"
    " tf.recompute_grad around it; or use tf.nn.sampled_softmax_loss.",
    "pytorch": "Compute the loss a part of the tokens at a time, each inside of"
    " torch_xla.utils.checkpoint.checkpoint; call the head on the tokens that count.",
}
INFLATED: Final[Mapping[str, str]] = {
    "jax": "Make it where it is read, so that it is fused: jnp.where(i[:, None] >= i[None, :], x,"
    " -inf) with jax.lax.broadcasted_iota instead of a stored mask; rely on broadcasting instead of"
    " jnp.broadcast_to, jnp.tile and jnp.repeat; keep masks bool; index (jnp.take) instead of"
    " one_hot @ table.",
    "tensorflow": "Make it where it is read: tf.range comparisons instead of a stored mask,"
    " broadcasting instead of tf.tile, tf.gather instead of one_hot matmul; keep masks bool.",
    "pytorch": "Make it where it is read: comparisons of torch.arange instead of a stored mask,"
    " expand instead of repeat, indexing instead of one_hot matmul; keep masks bool.",
}
IDLE: Final[Mapping[str, str]] = {
    "jax": "Compute it just before it is read: move the line, and tie an input of it to the step"
    " before with x, prev = jax.lax.optimization_barrier((x, prev)); or wrap it in"
    " jax.checkpoint so that it is made again; or move it to the host (jax.device_put) meanwhile.",
    "tensorflow": "Compute it just before it is read: move the line and order it with"
    " tf.control_dependencies, or put it into a tf.recompute_grad.",
    "pytorch": "Compute it just before it is read: move the line, and cut the graph with"
    " torch_xla.sync() (xm.mark_step()) before it if it may run apart.",
}
LARGE: Final[Mapping[str, str]] = {
    "jax": "Compute it a part at a time and reduce each part at once: jax.lax.map(f, xs,"
    " batch_size=...) or jax.lax.scan; write a sum of products as jnp.einsum or a matrix product,"
    " so that the product is never stored; or split the batch.",
    "tensorflow": "Compute it a part at a time (tf.map_fn, tf.while_loop) and reduce each part at"
    " once; use tf.einsum instead of a product and a sum; or split the batch.",
    "pytorch": "Compute it a part at a time and reduce each part at once; use torch.einsum instead"
    " of a product and a sum; or split the batch.",
}
REPLICATED: Final[Mapping[str, str]] = {
    "jax": "Shard it over a mesh axis (in_shardings of jax.jit, or jax.device_put), and constrain"
    " the activations that meet it: jax.lax.with_sharding_constraint(h, P('data', ...)) before"
    " and after the layer. Without the constraint the compiler may gather it, or replicate the"
    " activations, and need more than before.",
    "tensorflow": "Give the variable a sharded DTensor layout, and the activations that meet it one"
    " too (tf.experimental.dtensor.relayout): else they are replicated.",
    "pytorch": "mark_sharding the parameter (torch_xla.distributed.spmd), and the activations that"
    " meet it too: else they are replicated.",
}
