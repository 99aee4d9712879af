// Values of the forward pass that are kept at the peak for the backward pass
// @kind     table
// @answers  Which activations does the backward pass keep alive at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak
// @column   liveFrom      INTEGER       first step of the live range
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   neededAt      INTEGER       first step after the peak at which the backward pass reads
//           the value; null while a loop still fills it
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   recomputed    BOOLEAN       true if a checkpoint recomputed the value; see
//           lifetime/recomputed
// @column   ofCheckpoint  BOOLEAN       true if a checkpoint's backward pass reads the value:
//           an input, a value saved by policy, or one merged with its recomputation
// @column   keptBytes     INTEGER       share of the physical peak; null if the value is
//           recomputed, or if a checkpoint keeps it (see lifetime/not-recomputed)
// @shown    value sizeBytes userFile physicalBytes keptBytes attributedOpName
// @measure  physical
// @note     The backward pass is the set of instructions whose op name contains "transpose(" (JAX),
//           "gradient_tape/" or "gradients/" (TensorFlow), with TensorFlow's sums of its results
//           ("AddN"), and for PyTorch what makes values of the categories backward and gradient. A
//           value that it reads but does not make is from the forward pass, or is recomputed
//           ("rematted_computation", "recompute_grad"). Inputs of a recomputation are excluded,
//           because they must be kept.
// @note     What a forward loop (JAX: jax.lax.scan) writes in each iteration is kept for the
//           backward pass as a whole, even while the loop runs.
// @note     Fusions and copies without an op name are classified by their contents or operands.
// @note     Parameters, constants and outputs are excluded.
// @empty    no value of a forward pass is kept at the peak for a backward pass
// @advice   keptBytes physical Activations are kept for the backward pass
// @change   recompute
// @evidence value shape liveFrom neededAt ofCheckpoint attributedOpName userFile userLine
// @remedy   jax         Recompute them instead: put jax.checkpoint around one layer, a few layers, the
//           whole body of jax.lax.scan, or one iteration of an unrolled solver. A policy of
//           jax.checkpoint_policies keeps more: dots_with_no_batch_dims_saveable the results of
//           products, save_and_offload_only_these_names moves named values to the host.
// @remedy   tensorflow  Recompute them instead: wrap the layer in tf.recompute_grad. If a loop calls
//           it, read its variables before the loop (tf.identity(variable)) and pass them as
//           arguments: what is read in the body is kept for each iteration.
// @remedy   pytorch     Recompute them instead: call the layer through
//           torch_xla.utils.checkpoint.checkpoint, or wrap it in checkpoint_module of
//           torch_xla.distributed.fsdp.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
      <-[p:LIVE_AT_PEAK]-(v:Value)<-[:HOLDS]-(a:Allocation)
WITH c, s, v, p, a, v.attributedOpName CONTAINS 'rematted_computation'
     OR v.attributedOpName CONTAINS 'recompute_grad' AS recomputed,
     (v.attributedOpName CONTAINS 'jvp(' OR v.opName CONTAINS 'jvp(')
     AND (v.stackLoop IS NOT NULL
          OR v.opName CONTAINS '/body/dynamic_update_slice'
          OR v.opName CONTAINS '/body/jit(dynamic_update_index_in_dim)') AS stacked
WHERE p.physicalBytes > 0 AND a.parameterNumber IS NULL AND v.opcode <> 'constant'
      AND v.liveUntil < c.scheduleLength AND v.attributedOpName IS NOT NULL
      // a loop without an op name is classified by its readers
      AND (recomputed OR (v.opcode = 'while' AND v.attribution = 'reader')
           OR NOT (v.attributedOpName CONTAINS 'transpose('
                   OR v.attributedOpName CONTAINS 'gradient_tape/'
                   OR v.attributedOpName CONTAINS 'gradients/'
                   OR (v.attributedOpName CONTAINS 'aten__' AND v.category <> 'activation')))
// OPTIONAL: for a MATCH the embedded engine would read every use of the graph
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction)
OPTIONAL MATCH (i)-[:DEFINES]->(w:Value)
WITH v, p, s, recomputed, stacked, i.step AS step, coalesce(i.opName, w.attributedOpName) AS readBy,
     coalesce(w.category, '') AS category
WITH v, p, s, recomputed, stacked, step, readBy,
     readBy CONTAINS 'transpose(' OR readBy CONTAINS 'gradient_tape/'
     OR readBy CONTAINS 'gradients/'
     OR ((readBy CONTAINS 'AddN' OR readBy CONTAINS 'aten__')
         AND category IN ['backward', 'gradient']) AS isBackward,
     readBy CONTAINS 'rematted_computation' OR readBy CONTAINS 'recompute_grad' AS again
WITH v, p, recomputed, stacked, max(CASE WHEN again THEN 1 ELSE 0 END) AS rematted,
     max(CASE WHEN isBackward AND readBy CONTAINS '/checkpoint/' THEN 1 ELSE 0 END) AS inside,
     min(CASE WHEN isBackward AND step > s.physicalPeakStep AND NOT again
              THEN step ELSE null END) AS neededAt
WHERE (neededAt IS NOT NULL OR stacked) AND (recomputed OR rematted = 0)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, neededAt,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       recomputed, inside = 1 AS ofCheckpoint,
       CASE WHEN recomputed OR inside = 1 THEN null ELSE p.physicalBytes END AS keptBytes
ORDER BY physicalBytes DESC, sizeBytes DESC, value
LIMIT $limit
