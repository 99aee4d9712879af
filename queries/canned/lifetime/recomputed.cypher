// Values that a checkpoint recomputes, and the steps at which they are needed
// @kind     table
// @answers  What does the checkpoint recompute, and is it live at the peak anyway?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   liveFrom      INTEGER       first step of the live range
// @column   neededAt      INTEGER       first step at which the backward pass, or else another
//           reader, reads the value; null if only recomputed values read it
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   waitsAtPeak   BOOLEAN       true if live at the peak but needed only after it
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING     op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   waitingBytes  INTEGER       share of the physical peak if waitsAtPeak; otherwise null
// @column   reason        STRING        `computed again before the peak`, or `merged with the first
//           computation` if the forward pass reads the value too; null if waitsAtPeak is false
// @shown    value sizeBytes userFile reason physicalBytes waitingBytes attributedOpName
// @measure  assigned, physical
// @note     Rows are values of ops with "rematted_computation" (JAX: jax.checkpoint) or
//           "recompute_grad" (a scope that the program names so) in their name. tf.recompute_grad
//           itself marks nothing (seen with TensorFlow 2.21), nor does PyTorch/XLA: recomputed
//           values have the first computation's names there, and no rows here.
// @note     Values whose waitsAtPeak is true come first.
// @note     An optimization barrier delays a recomputation until the backward pass needs it. XLA
//           for CPU removes the barriers before it merges and schedules.
// @note     Values that XLA merged with the first computation, under its name, are in
//           lifetime/not-recomputed instead.
// @empty    nothing is marked as recomputed; only jax.checkpoint marks recomputations automatically
// @advice   waitingBytes physical A checkpoint recomputes too early: its values wait at the peak
// @change   late
// @evidence value shape liveFrom neededAt reason attributedOpName userFile userLine
// @remedy   jax         The checkpoint saves nothing if it recomputes values before the peak that
//           are needed after it: keep prevent_cse=True, the default, outside jax.lax.scan; put the
//           layers into jax.lax.scan over jax.checkpoint(layer), so that each is recomputed
//           separately; or checkpoint smaller pieces.
// @remedy   tensorflow  Wrap smaller pieces in tf.recompute_grad, so that less is recomputed at
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
