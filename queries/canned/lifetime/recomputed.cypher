// Values that a checkpoint computes again, and where they are needed
// @kind     table
// @answers  What does the checkpoint compute again, and is it alive at the peak all the same?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak; null where it is not
//           live then
// @column   liveFrom      INTEGER       first step in which it is needed
// @column   neededAt      INTEGER       first step of the backward pass that reads it, else of
//           another reader; null if only what is computed again reads it
// @column   liveUntil     INTEGER       last step in which it is needed, inclusive
// @column   waitsAtPeak   BOOLEAN       live at the peak, and needed only after it
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING     op name that it belongs to: its own, else of what it is made
//           of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @column   waitingBytes  INTEGER       its share of the peak where it waits there; null elsewhere
// @column   reason        STRING        why it waits there: `computed again before the peak`, or
//           `merged with the first computation`, as the forward pass reads it too; null elsewhere
// @measure  assigned, physical
// @note     What belongs to an op with "rematted_computation" in its name (JAX: jax.checkpoint), or
//           "recompute_grad", where a program calls its own scope so. tf.recompute_grad marks
//           nothing by itself (seen with TensorFlow 2.21), and neither does PyTorch/XLA: there
//           what is computed again has the names of the first computation, and no rows.
// @note     What waits at the peak comes first.
// @note     An optimization barrier holds back what is computed again until the backward pass gets
//           there. XLA for CPU takes the barriers out before it merges and schedules.
// @note     What XLA merged with the first computation under the name of that one is not a row here:
//           lifetime/not-recomputed has it.
// @empty    nothing is marked as computed again; of the checkpoints only jax.checkpoint marks it
//           by itself
// @advice   waitingBytes physical A checkpoint computes again too early: its values wait at the peak
// @change   late
// @evidence value shape liveFrom neededAt reason attributedOpName userFile userLine
// @remedy   jax         The checkpoint saves nothing where it computes again before the peak what is
//           needed after it: leave prevent_cse=True, its default, outside of jax.lax.scan; put the
//           layers into jax.lax.scan over jax.checkpoint(layer), so that each is computed again on
//           its own; or checkpoint smaller pieces.
// @remedy   tensorflow  Wrap smaller pieces in tf.recompute_grad, so that less is computed again at
//           once.
// @remedy   pytorch     Checkpoint smaller pieces: one call of
//           torch_xla.utils.checkpoint.checkpoint for each layer.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE v.memorySpace = $memorySpace
      AND (v.attributedOpName CONTAINS 'rematted_computation'
           OR v.attributedOpName CONTAINS 'recompute_grad')
      AND v.attribution <> 'reader' AND NOT v.opcode IN ['parameter', 'constant']
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
// OPTIONAL: for a MATCH the embedded engine would read every use of the graph
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction)
OPTIONAL MATCH (i)-[:DEFINES]->(w:Value)
WITH v, i.step AS step, coalesce(i.opName, w.attributedOpName) AS readBy
WITH v, step, readBy CONTAINS 'rematted_computation' OR readBy CONTAINS 'recompute_grad' AS again,
     readBy CONTAINS 'transpose(' OR readBy CONTAINS 'gradient_tape/'
     OR readBy CONTAINS 'gradients/' AS isBackward
WITH v, min(CASE WHEN isBackward AND NOT again THEN step ELSE null END) AS backwardFrom,
     min(CASE WHEN isBackward OR again THEN null ELSE step END) AS otherwiseFrom
WITH v, coalesce(backwardFrom, otherwiseFrom) AS neededAt, otherwiseFrom < backwardFrom AS isMerged
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(s:MemorySpace)
WITH v, p, neededAt, coalesce(isMerged, false) AS isMerged,
     p.physicalBytes IS NOT NULL AND neededAt > s.physicalPeakStep AS waits
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.liveFrom AS liveFrom, neededAt, v.liveUntil AS liveUntil,
       coalesce(waits, false) AS waitsAtPeak,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       CASE WHEN waits THEN p.physicalBytes ELSE null END AS waitingBytes,
       CASE WHEN NOT coalesce(waits, false) THEN null
            WHEN isMerged THEN 'merged with the first computation'
            ELSE 'computed again before the peak' END AS reason
ORDER BY coalesce(waitingBytes, 0) DESC, sizeBytes DESC, value
LIMIT $limit
