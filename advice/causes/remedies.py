"""Sentences that describe the edits, by framework."""

from collections.abc import Mapping
from typing import Final

__all__ = [
    "ADDED_GRADIENTS",
    "ATTENTION_SCORES",
    "COMPUTED_AHEAD",
    "CONSTANTS",
    "DENSE_GRADIENTS",
    "DENSE_GRADIENTS_WITH_STATE",
    "DERIVATIVES_AT_ONCE",
    "DIAGONALS",
    "FLOAT64",
    "FULL_SORTS",
    "GATHERED_ROWS",
    "GRADIENTS_OF_FROZEN",
    "IDLE",
    "INFLATED",
    "INFLATED_LABELS",
    "JACOBIANS",
    "LARGE",
    "LAYOUTS",
    "LOGITS",
    "OFFLOADED",
    "ONE_HOT",
    "PAIR_DIFFERENCES",
    "PAIR_SCORES",
    "PER_EXAMPLE",
    "PRODUCTS_WITH_THEMSELVES",
    "REDUCED_STACKS",
    "REPEATED_PARTS",
    "REPLICATED",
    "REPLICATED_BATCH",
    "RETURNED_FORWARD_VALUES",
    "RETURNED_GRADIENTS",
    "RETURNED_STACKS",
    "REWRITTEN_INPUTS",
    "UNCHANGED_INPUTS",
    "Remedies",
    "nested_loops",
]

Remedies = Mapping[str, str]

LAYOUTS: Final[Mapping[str, str]] = {
    "jax": "Let the compiler choose how arguments and results are stored: jax.jit(...,"
    " in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)) of"
    " jax.experimental.layout; or pass the array with its dimensions in the order of the copy, and"
    " keep that order in the program.",
    "tensorflow": "Store the variable with its dimensions in the order of the copy, and keep that"
    " order in the program.",
    "pytorch": "Store the tensor with its dimensions in the order of the copy, and keep that order"
    " in the program.",
}
RETURNED_STACKS: Final[Mapping[str, str]] = {
    "jax": "Return only what the caller needs: the last carry, a sum in the carry, or every n-th"
    " iteration; let the body of jax.lax.scan return None as its second result.",
    "tensorflow": "Return only what the caller needs: the last loop variable or a running sum"
    " instead of a tf.TensorArray of all iterations.",
    "pytorch": "Return only what the caller needs: the last carry, or a sum in the carry.",
}
DIAGONALS: Final[Mapping[str, str]] = {
    "jax": "Compute the diagonal alone: (a * b).sum(-1) instead of jnp.diag(a @ b.T), and"
    " jnp.vdot(a, b) instead of jnp.trace(a @ b.T); ask a library for variances instead of a"
    " covariance.",
    "tensorflow": "Compute the diagonal alone: tf.reduce_sum(a * b, -1) instead of"
    " tf.linalg.diag_part(tf.matmul(a, b, transpose_b=True)).",
    "pytorch": "Compute the diagonal alone: (a * b).sum(-1) instead of torch.diagonal(a @ b.T).",
}
ADDED_GRADIENTS: Final[Mapping[str, str]] = {
    "jax": "Add each gradient to a sum as soon as it is made: jax.lax.scan over the parts of the"
    " batch (or over the repeated layers that share the parameter), with the sum as carry, instead"
    " of a Python loop or comprehension that collects gradients.",
    "tensorflow": "Add each gradient to a sum as soon as it is made, in a tf.while_loop over the"
    " parts of the batch.",
    "pytorch": "Accumulate into .grad, one part of the batch after another, with torch_xla.sync()"
    " (xm.mark_step()) in between.",
}
RETURNED_GRADIENTS: Final[Mapping[str, str]] = {
    "jax": "Return only the new parameters; if the gradients are needed to log them, return their"
    " norms (optax.global_norm).",
    "tensorflow": "Do not return the gradients of the step; return their norms"
    " (tf.linalg.global_norm).",
    "pytorch": "Drop the gradients (optimizer.zero_grad()) before torch_xla.sync().",
}
GRADIENTS_OF_FROZEN: Final[Mapping[str, str]] = {
    "jax": "Differentiate only with respect to the parameters that are updated (argnums of"
    " jax.grad, or a partition of the tree), and return only the new ones.",
    "tensorflow": "Pass only the updated variables to tape.gradient.",
    "pytorch": "Set requires_grad_(False) on the frozen parameters.",
}
RETURNED_FORWARD_VALUES: Final[Mapping[str, str]] = {
    "jax": "Return only what the caller reads, such as the loss or a mean: leave activations and"
    " logits out of the auxiliary results (has_aux=True), or reduce them in the step.",
    "tensorflow": "Return the loss or a mean instead of the activations.",
    "pytorch": "Drop the activations (del, or .detach() of a mean) before torch_xla.sync().",
}
REWRITTEN_INPUTS: Final[Mapping[str, str]] = {
    "jax": "Pass it in the carry of jax.lax.scan instead of xs, scan over jnp.arange(n), read part"
    " i of the carry, and write only what changes with carry.at[i, ...].set(new) or"
    " jax.lax.dynamic_update_slice.",
    "tensorflow": "Make it a loop variable, and write part i with tf.tensor_scatter_nd_update.",
    "pytorch": "Make it a carry of torch_xla.experimental.scan, and write part i in place.",
}
UNCHANGED_INPUTS: Final[Mapping[str, str]] = {
    "jax": "Do not return it: the caller has the array that it passed. Or donate it"
    " (donate_argnums), if the caller goes on with the result.",
    "tensorflow": "Do not return it: the caller has the tensor that it passed.",
    "pytorch": "Do not return it: the caller has the tensor that it passed.",
}
ONE_HOT: Final[Mapping[str, str]] = {
    "jax": "Index instead of multiplying with jax.nn.one_hot: table[ids] for one_hot(ids) @ table,"
    " jax.ops.segment_sum(x, ids, n) for one_hot(ids, n).T @ x, and for a dispatch to experts"
    " jnp.zeros((experts, capacity, d)).at[expert, place].set(x, mode='drop') and"
    " out.at[expert, place].get(mode='fill', fill_value=0).",
    "tensorflow": "Index instead of multiplying with tf.one_hot: tf.gather, or"
    " tf.math.unsorted_segment_sum for the transposed product.",
    "pytorch": "Index instead of multiplying with one_hot: table[ids], or index_add_ for the"
    " transposed product.",
}
REPLICATED_BATCH: Final[Mapping[str, str]] = {
    "jax": "Shard the batch over the devices: in_shardings of jax.jit, or jax.device_put(batch,"
    " NamedSharding(mesh, P('data'))).",
    "tensorflow": "Split the dataset over the replicas"
    " (strategy.experimental_distribute_dataset), or give the batch a sharded DTensor layout.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the batch.",
}
REPEATED_PARTS: Final[Mapping[str, str]] = {
    "jax": "Return it once, not in each iteration: leave it out of the second result of the body of"
    " jax.lax.scan; the body can read it without passing it on.",
    "tensorflow": "Read each variable once before the loop, and use that tensor in the body:"
    " kernel = tf.identity(variable). In Keras, call a recurrent layer within"
    " keras.StatelessScope([(v, tf.identity(v)) for v in layer.trainable_variables]).",
    "pytorch": "Leave it out of what the body of torch_xla.experimental.scan stacks.",
}
REDUCED_STACKS: Final[Mapping[str, str]] = {
    "jax": "Reduce in the loop: add to a sum (or take the maximum) in the carry of jax.lax.scan, or"
    " keep a part that is read there (jnp.where(i == wanted, y, kept)), and return None as the"
    " second result of its body; save only what is read (diffrax.SaveAt(t1=True)).",
    "tensorflow": "Reduce in the loop: add to a loop variable instead of writing each iteration"
    " into a tf.TensorArray.",
    "pytorch": "Reduce in the loop: add to a sum in the carry of torch_xla.experimental.scan.",
}
COMPUTED_AHEAD: Final[Mapping[str, str]] = {
    "jax": "Compute the part of one iteration in the body of jax.lax.scan: scan over what it is"
    " computed from (jax.random.split(key, n) for random numbers, the ids for rows of a table, the"
    " inputs of a projection). One large product before the loop may run faster than one in each"
    " iteration.",
    "tensorflow": "Compute the part of one iteration in the body of the tf.while_loop.",
    "pytorch": "Compute the part of one iteration in the body of torch_xla.experimental.scan.",
}
CONSTANTS: Final[Mapping[str, str]] = {
    "jax": "Pass the array as an argument of the jitted function instead of closing over it.",
    "tensorflow": "Pass the tensor as an argument of the tf.function, or keep it in a tf.Variable.",
    "pytorch": "Move the tensor to the device before the step (tensor.to('xla')).",
}
DENSE_GRADIENTS: Final[Mapping[str, str]] = {
    "jax": "Differentiate with respect to the rows that were read (rows = table[ids], outside of"
    " jax.grad) and update only these: table.at[ids].add(-rate * gradient_of_rows).",
    "tensorflow": "Keep tf.IndexedSlices: update the rows with tf.Variable.scatter_sub instead of"
    " converting the gradient to a dense tensor.",
    "pytorch": "Update only the rows that were read (table.index_add_) instead of the whole table.",
}
DENSE_GRADIENTS_WITH_STATE: Final[Mapping[str, str]] = {
    "jax": "Differentiate with respect to the rows that were read (rows = table[ids], outside of"
    " jax.grad), and update only these, and their state, as a lazy Adam does:"
    " m.at[ids].set(b1 * m[ids] + (1 - b1) * gradient_of_rows), and so on.",
    "tensorflow": "Keep tf.IndexedSlices, and let a lazy optimizer update the rows and their state"
    " (tf.Variable.scatter_update).",
    "pytorch": "Update only the rows that were read, and their state (torch.optim.SparseAdam).",
}
FLOAT64: Final[Mapping[str, str]] = {
    "jax": "Compute in float32: leave jax_enable_x64 off, or give dtype=jnp.float32 where the"
    " inputs are made.",
    "tensorflow": "Compute in tf.float32: cast the inputs, and set the dtype of the layers.",
    "pytorch": "Compute in torch.float32: convert the inputs and the model (.float()).",
}
FULL_SORTS: Final[Mapping[str, str]] = {
    "jax": "Select instead of sorting: jax.lax.top_k(x, k) for jnp.sort(x)[..., ::-1][..., :k] and"
    " jnp.argsort(-x)[..., :k], of -x for the smallest; x.argmax(-1) for one element.",
    "tensorflow": "Select instead of sorting: tf.math.top_k.",
    "pytorch": "Select instead of sorting: torch.topk.",
}
OFFLOADED: Final[Mapping[str, str]] = {
    "jax": "Keep the values on the device: remove their names from names_which_can_be_offloaded of"
    " jax.checkpoint_policies.save_and_offload_only_these_names, or the device_put to"
    " pinned_host; offload values that are live at the peak.",
    "tensorflow": "Keep the values on the device; offload values that are live at the peak.",
    "pytorch": "Keep the values on the device; offload values that are live at the peak.",
}
PER_EXAMPLE: Final[Mapping[str, str]] = {
    "jax": "Sum the gradients as they are made: jax.lax.scan over examples or small groups of them,"
    " with the sum as carry, instead of jax.vmap(jax.grad(...)) over the whole batch"
    " (jax.lax.map(f, xs, batch_size=8) for groups). If only their sum is needed, apply jax.vmap"
    " inside, such as to an ODE's vector field instead of to its solver: the sum is then a matrix"
    " product. If only norms are needed, compute only those.",
    "tensorflow": "Loop over small groups of examples (tf.while_loop or tf.map_fn) and add up"
    " clipped gradients, instead of tf.vectorized_map or tape.jacobian over the batch.",
    "pytorch": "Give torch.func.vmap a chunk_size, or accumulate clipped gradients over"
    " microbatches.",
}
LOGITS: Final[Mapping[str, str]] = {
    "jax": "Compute the loss in parts: reshape the tokens to (parts, tokens, d) and use"
    " jax.lax.map(jax.checkpoint(loss_of_part), parts), so that only the logits of one part exist"
    " at a time, in the backward pass too; skip the logits of tokens that do not count.",
    "tensorflow": "Compute the loss in parts of the tokens in a tf.while_loop, with"
    " tf.recompute_grad around it; or use tf.nn.sampled_softmax_loss.",
    "pytorch": "Compute the loss in parts of the tokens, each inside of"
    " torch_xla.utils.checkpoint.checkpoint; call the head only on tokens that count.",
}
ATTENTION_SCORES: Final[Mapping[str, str]] = {
    "jax": "Call a kernel that stores no scores: jax.nn.dot_product_attention(q, k, v,"
    " implementation='cudnn') on a GPU in bf16 or f16, splash_attention of"
    " jax.experimental.pallas.ops.tpu on a TPU; or attend with one block of queries after another:"
    " jax.lax.map(jax.checkpoint(attend), blocks), so that only the scores of one block exist. The"
    " backward pass computes them once more.",
    "tensorflow": "Attend with one block of queries after another in a tf.while_loop, with"
    " tf.recompute_grad around it.",
    "pytorch": "Call a kernel that stores no scores (flash_attention of"
    " torch_xla.experimental.custom_kernel); or attend with one block of queries after another,"
    " each inside of torch_xla.utils.checkpoint.checkpoint.",
}
INFLATED: Final[Mapping[str, str]] = {
    "jax": "Compute it where it is read, so that it is fused: jnp.where(i[:, None] >= i[None, :],"
    " x, -inf) with jax.lax.broadcasted_iota instead of a stored mask; rely on broadcasting instead"
    " of jnp.broadcast_to, jnp.tile and jnp.repeat; keep masks bool.",
    "tensorflow": "Compute it where it is read: tf.range comparisons instead of a stored mask,"
    " broadcasting instead of tf.tile; keep masks bool.",
    "pytorch": "Compute it where it is read: comparisons of torch.arange instead of a stored mask,"
    " expand instead of repeat; keep masks bool.",
}
INFLATED_LABELS: Final[Mapping[str, str]] = {
    "jax": "Index with the labels instead of comparing them with the numbers of columns:"
    " jnp.take_along_axis(x, labels[..., None], -1) for a sum of x * one_hot(labels),"
    " counts.at[labels].add(1) for a sum of one_hot(labels), jnp.take(table, labels, 0).",
    "tensorflow": "Index with the labels instead of comparing them with the numbers of columns:"
    " tf.gather(x, labels, batch_dims=1), tf.math.bincount.",
    "pytorch": "Index with the labels instead of comparing them with the numbers of columns:"
    " x.gather(-1, labels[..., None]), torch.bincount.",
}
JACOBIANS: Final[Mapping[str, str]] = {
    "jax": "Compute the products instead of the matrix: jax.jvp(f, (x,), (v,))[1] for J @ v,"
    " jax.vjp(f, x)[1](u)[0] for J.T @ u, jax.jvp(jax.grad(f), (x,), (v,))[1] for a Hessian's;"
    " solvers such as jax.scipy.sparse.linalg.cg take them as a function.",
    "tensorflow": "Compute the products instead of the matrix: tf.autodiff.ForwardAccumulator for"
    " J @ v, tape.gradient with output_gradients for J.T @ u.",
    "pytorch": "Compute the products instead of the matrix: torch.func.jvp for J @ v,"
    " torch.func.vjp for J.T @ u.",
}
PRODUCTS_WITH_THEMSELVES: Final[Mapping[str, str]] = {
    "jax": "Add the products of blocks of rows: jax.lax.scan over the blocks, whose body computes"
    " the rows of one block (for a Jacobian, jax.jacfwd of the residuals of one block) and adds"
    " a.T @ a to the carry; or solve with products only: jax.scipy.sparse.linalg.cg with"
    " jax.linearize and jax.vjp.",
    "tensorflow": "Add the products of blocks of rows in a tf.while_loop.",
    "pytorch": "Add the products of blocks of rows, one block after another.",
}
GATHERED_ROWS: Final[Mapping[str, str]] = {
    "jax": "Add the rows of one group after another: reshape the indices (senders and receivers of"
    " a graph) to (groups, rows) and use jax.lax.scan(jax.checkpoint(body), jnp.zeros((nodes, d)),"
    " (senders, receivers)), whose body gathers the rows of one group and adds their"
    " jax.ops.segment_sum to the carry.",
    "tensorflow": "Add the rows of one group after another in a tf.while_loop, with"
    " tf.recompute_grad around its body.",
    "pytorch": "Add the rows of one group after another with index_add_, each group inside of"
    " torch_xla.utils.checkpoint.checkpoint.",
}
DERIVATIVES_AT_ONCE: Final[Mapping[str, str]] = {
    "jax": "Take a few directions at a time: jax.lax.map(lambda v: jax.jvp(f, (x,), (v,))[1],"
    " jnp.eye(n), batch_size=k) instead of jax.jacfwd(f)(x), or the same with jax.vjp for"
    " jax.jacrev and with jax.grad(f) for f in jax.hessian. If only a sum is needed,"
    " such as a trace, add to it in the carry of jax.lax.scan. If the program differentiates this"
    " again, put jax.checkpoint around the body.",
    "tensorflow": "Take a few directions at a time in a tf.while_loop, or set"
    " experimental_use_pfor=False in tape.jacobian.",
    "pytorch": "Give torch.func.jacfwd a chunk_size.",
}
PAIR_DIFFERENCES: Final[Mapping[str, str]] = {
    "jax": "Compute squared distances without the differences: (a**2).sum(-1)[:, None]"
    " + (b**2).sum(-1) - 2 * a @ b.T; or take a part of the rows at a time: jax.lax.map("
    "jax.checkpoint(lambda row: distances of row to b), a, batch_size=k).",
    "tensorflow": "Compute squared distances without the differences, from squares and a matrix"
    " product; or take a part of the rows at a time in a tf.while_loop.",
    "pytorch": "Use torch.cdist, or squares and a matrix product, instead of the differences.",
}
PAIR_SCORES: Final[Mapping[str, str]] = {
    "jax": "Compute the scores of a part of the rows at a time, and sum them immediately:"
    " jax.lax.map(jax.checkpoint(lambda rows: loss of rows @ b.T), blocks of a); a loss over the"
    " columns too is another such loop, over blocks of b.",
    "tensorflow": "Compute the scores of a part of the rows at a time in a tf.while_loop, with"
    " tf.recompute_grad around it.",
    "pytorch": "Compute the scores of a part of the rows at a time, each inside of"
    " torch_xla.utils.checkpoint.checkpoint.",
}
IDLE: Final[Mapping[str, str]] = {
    "jax": "Compute it just before it is read: move the line, and tie one of its inputs to the"
    " previous step with x, prev = jax.lax.optimization_barrier((x, prev)); or wrap it in"
    " jax.checkpoint to recompute it; or keep it on the host meanwhile (jax.device_put).",
    "tensorflow": "Compute it just before it is read: move the line and order it with"
    " tf.control_dependencies, or wrap it in tf.recompute_grad.",
    "pytorch": "Compute it just before it is read: move the line, and, if it may run"
    " separately, cut the graph before it with torch_xla.sync() (xm.mark_step()).",
}
LARGE: Final[Mapping[str, str]] = {
    "jax": "Compute it in parts and reduce each part immediately: jax.lax.map(f, xs,"
    " batch_size=...) or jax.lax.scan; write a sum of products as jnp.einsum or a matrix product,"
    " so that the product is never stored; or split the batch.",
    "tensorflow": "Compute it in parts (tf.map_fn, tf.while_loop) and reduce each part"
    " immediately; use tf.einsum instead of a product and a sum; or split the batch.",
    "pytorch": "Compute it in parts and reduce each part immediately; use torch.einsum instead"
    " of a product and a sum; or split the batch.",
}
REPLICATED: Final[Mapping[str, str]] = {
    "jax": "Shard it over a mesh axis (in_shardings of jax.jit, or jax.device_put), and constrain"
    " the activations that use it: jax.lax.with_sharding_constraint(h, P('data', ...)) before"
    " and after the layer. Without the constraint the compiler may gather it, or replicate the"
    " activations and need more memory than before.",
    "tensorflow": "Give a sharded DTensor layout to the variable and to the activations that use it"
    " (tf.experimental.dtensor.relayout); otherwise the activations are replicated.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the parameter and on the"
    " activations that use it; otherwise the activations are replicated.",
}


def nested_loops(outer: int, inner: int) -> Remedies:
    """Return how to run a loop as two nested ones of these numbers of iterations."""
    return {
        "jax": f"Nest two loops, with xs reshaped to ({outer}, {inner}, ...): jax.lax.scan over"
        f" {outer} parts, whose body is jax.checkpoint(lambda carry, xs: jax.lax.scan("
        "jax.checkpoint(body), carry, xs)). The body is computed once more.",
        "tensorflow": f"Nest two tf.while_loops of {outer} and {inner} iterations, each body in"
        " tf.recompute_grad. The body is computed once more.",
        "pytorch": f"Nest two loops of {outer} and {inner} iterations, each body in"
        " torch_xla.utils.checkpoint.checkpoint. The body is computed once more.",
    }
