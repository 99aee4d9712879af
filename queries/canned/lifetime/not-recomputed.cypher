// Values that a checkpoint keeps for its backward pass, and does not compute again
// @kind     table
// @answers  Why does my checkpoint save nothing?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak
// @column   liveFrom      INTEGER       first step in which it is needed
// @column   liveUntil     INTEGER       last step in which it is needed, inclusive
// @column   neededAt      INTEGER       first step after the peak in which the backward pass of the
//           checkpoint reads it
// @column   checkpoint    STRING        scope that the checkpoint is around
// @column   reason        STRING        why it is not computed again
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING     op name that it belongs to: its own, else of what it is made
//           of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @measure  physical
// @note     A checkpoint (JAX: jax.checkpoint) is seen by what it leaves in op names: the backward
//           pass of `layer_0` is called transpose(jvp(layer_0))/…/checkpoint/…, and what is computed
//           again …/checkpoint/rematted_computation/…. A row is a value of the forward pass of that
//           scope, live at the peak, that the former reads after the peak, where no value of the
//           latter exists.
// @note     Either XLA merged the second computation with the first one (as common
//           subexpressions: prevent_cse=False allows it, and on CPU nothing prevents it), or the
//           policy of the checkpoint keeps the value: the dump is the same.
// @note     What is computed again inside of fusions alone is not a value, and not seen here.
// @note     Without jax.named_scope all layers are one scope, and their inputs, which a checkpoint
//           always keeps, are rows too.
// @empty    no checkpoint keeps at the peak what it could compute again, or the program has no
//           checkpoint
// @advice   physicalBytes physical A checkpoint keeps what it could compute again
// @change   recompute
// @evidence value shape liveFrom neededAt checkpoint reason attributedOpName userFile userLine
// @remedy   jax         Leave prevent_cse=True, its default, outside of jax.lax.scan, and choose a
//           policy that keeps less (jax.checkpoint_policies.nothing_saveable); put the layers into
//           jax.lax.scan over jax.checkpoint(layer), where nothing can be merged. On CPU XLA merges
//           in any case: see whether it does so for the device that you train on.
// @remedy   tensorflow  Put the layers into a tf.while_loop, and each of them into
//           tf.recompute_grad: from one turn to the next nothing can be merged.
// @remedy   pytorch     Use torch_xla.utils.checkpoint.checkpoint, which puts an optimization
//           barrier around what is computed again, not torch.utils.checkpoint; or
//           torch_xla.experimental.scan_layers, where nothing can be merged.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
      <-[p:LIVE_AT_PEAK]-(v:Value)<-[:HOLDS]-(a:Allocation)
WHERE p.physicalBytes > 0 AND a.parameterNumber IS NULL AND v.opcode <> 'constant'
      AND v.liveUntil < c.scheduleLength AND v.attributedOpName IS NOT NULL
      AND NOT (v.attributedOpName CONTAINS 'transpose('
               OR v.attributedOpName CONTAINS 'gradient_tape/'
               OR v.attributedOpName CONTAINS 'gradients/')
// OPTIONAL: for a MATCH the embedded engine would read every use of the graph
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction)
OPTIONAL MATCH (i)-[:DEFINES]->(w:Value)
WITH c, v, p, s, i.step AS step, coalesce(i.opName, w.attributedOpName) AS readBy
WHERE step > s.physicalPeakStep AND readBy CONTAINS '/checkpoint/'
      AND (readBy CONTAINS 'transpose(' OR readBy CONTAINS 'gradient_tape/'
           OR readBy CONTAINS 'gradients/')
      AND NOT (readBy CONTAINS 'rematted_computation' OR readBy CONTAINS 'recompute_grad')
// the scopes of the value, each by what its name adds to that of the scope around it
MATCH (v)-[:ATTRIBUTED_TO]->(o:Op)-[:WITHIN]->(z:Scope)
MATCH (o)-[:WITHIN]->(y:Scope) WHERE y.depth = z.depth - 1
WITH c, v, p, step, readBy, z.name AS scope, replace(z.name, y.name, '') AS part
WITH c, v, p, step, readBy, scope, part + '/checkpoint/' AS inner,
     '/transpose(' + replace(part, '/', '') + ')/checkpoint/' AS outer
WHERE (readBy CONTAINS inner) OR (readBy CONTAINS outer)
WITH c, v, p, min(step) AS neededAt, min(scope) AS checkpoint,
     min(inner + 'rematted_computation') AS againInner,
     min(outer + 'rematted_computation') AS againOuter
OPTIONAL MATCH (c)-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(r:Value)
WHERE ((r.attributedOpName CONTAINS againInner) OR (r.attributedOpName CONTAINS againOuter))
      AND r.attribution <> 'reader' AND NOT r.dtype IN ['tuple', 'token', 'opaque']
WITH v, p, neededAt, checkpoint, count(r) AS recomputed
WHERE recomputed = 0
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, neededAt, checkpoint,
       'merged with the first computation, or kept by the policy' AS reason,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY physicalBytes DESC, sizeBytes DESC, value
LIMIT $limit
