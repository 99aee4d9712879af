// Values that a checkpoint keeps for its backward pass instead of recomputing them
// @kind     table
// @answers  Why does my checkpoint save nothing?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak
// @column   liveFrom      INTEGER       first step of the live range
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   neededAt      INTEGER       first step after the peak at which the checkpoint's
//           backward pass reads the value
// @column   checkpoint    STRING        scope that the checkpoint wraps
// @column   reason        STRING        reason why the value is not recomputed
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING     op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @shown    value sizeBytes userFile reason physicalBytes attributedOpName
// @measure  physical
// @note     A checkpoint (JAX: jax.checkpoint) is recognized by op names: the backward pass of
//           `layer_0` is transpose(jvp(layer_0))/…/checkpoint/…, and a recomputation is
//           …/checkpoint/rematted_computation/…. A row is a value of the forward pass of that scope
//           that is live at the peak and read by the backward pass after the peak, with no
//           recomputed value in that scope.
// @note     Either XLA merged the recomputation with the first computation (as common
//           subexpressions: prevent_cse=False allows it, and on CPU nothing prevents it), or the
//           policy of the checkpoint keeps the value. The dump looks the same in both cases.
// @note     A recomputation that happens only inside fusions makes no value and is not recognized.
// @note     Without jax.named_scope all layers are one scope, and their inputs, which a checkpoint
//           always keeps, are rows too.
// @empty    no checkpoint keeps a value at the peak that it could recompute, or the program has no
//           checkpoint
// @advice   physicalBytes physical A checkpoint keeps values that it could recompute
// @change   recompute
// @evidence value shape liveFrom neededAt checkpoint reason attributedOpName userFile userLine
// @remedy   jax         Keep prevent_cse=True, the default, outside jax.lax.scan, and choose a
//           policy that keeps less (jax.checkpoint_policies.nothing_saveable); put the layers into
//           jax.lax.scan over jax.checkpoint(layer), so that nothing can be merged. On CPU XLA
//           always merges: check the dump of the device that you train on.
// @remedy   tensorflow  Put the layers into a tf.while_loop, and each of them into
//           tf.recompute_grad: XLA cannot merge across iterations.
// @remedy   pytorch     Use torch_xla.utils.checkpoint.checkpoint, which puts an optimization
//           barrier around the recomputation, not torch.utils.checkpoint; or use
//           torch_xla.experimental.scan_layers, so that nothing can be merged.
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
// the value's scopes, each by the part of its name that follows the enclosing scope's
OPTIONAL MATCH (v)-[:ATTRIBUTED_TO]->(o:Op)-[:WITHIN]->(z:Scope)
OPTIONAL MATCH (o)-[:WITHIN]->(y:Scope) WHERE y.depth = z.depth - 1
WITH c, v, p, step, readBy, z, y WHERE y.name IS NOT NULL
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
