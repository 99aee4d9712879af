// Inputs that could have been donated to an output
// @kind     table
// @answers  Which inputs could have been donated and were not?
// @param    compilation      STRING          key of a compilation, or a unique part of it
// @param    limit            INTEGER = 1000  rows to return
// @column   parameterNumber  INTEGER         entry parameter number
// @column   shapeIndex       STRING          tuple index in that parameter, in braces
// @column   value            STRING          value of the parameter
// @column   shape            STRING          shape, without layout
// @column   sizeBytes        INTEGER         assigned size, including padding
// @column   lastUse          INTEGER         step of the last user; null if nothing reads the value
// @column   candidateOutputs INTEGER         number of outputs with the same shape that have a
//           separate buffer
// @column   freeOutputs      INTEGER         number of candidateOutputs that begin at or after
//           lastUse, so that donation would work
// @column   opcode           STRING          opcode of the instruction that produces the value
// @column   opName           STRING          op name of that instruction, as set by the framework
// @column   sourceFile       STRING          source file of that instruction
// @column   sourceLine       INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile         STRING          file of the innermost line outside installed packages
// @column   userLine         INTEGER         line in that file
// @column   memorySpace      INTEGER         memory space of the input
// @column   freeInSpace      INTEGER         number of freeOutputs in that memory space
// @column   savedBytes       INTEGER         reserved bytes saved by donating this input, as
//           replanned by `whatif --donate`; an estimate if only the statement is run
// @column   memorySpaceName  STRING          such as HBM or VMEM; null where XLA has none
// @shown    parameterNumber value sizeBytes savedBytes userFile attributedOpName … shapeIndex
//           memorySpace memorySpaceName
// @measure  assigned, reserved
// @note     An input is a parameter that is not live-out; the row is about its first value by id.
//           An output is an array that is live to the end in a live-out allocation that is not a
//           parameter.
// @note     Several inputs can name the same output; only one of them can have it.
// @note     An input that nothing reads could be donated to any of them.
// @note     Temporaries use an output's buffer before the output is written. They need other
//           bytes if the output uses the input's bytes, so that donating may save nothing.
// @note     The statement estimates savedBytes: the input's size, minus the average of what
//           else the buffers of the freeOutputs in that space contain at the physical peak.
//           `xlagraph query` and `serve` replan the memory for each row instead.
// @empty    no input could be donated: none has the shape of an output that has a separate buffer
// @advice   savedBytes reserved Inputs could be donated to outputs
// @change   donate
// @evidence parameterNumber shapeIndex value shape lastUse
// @once     shape freeInSpace
// @remedy   jax         Donate the arguments that the caller no longer needs: jax.jit(step,
//           donate_argnums=(0,)), or donate_argnames; call it as state = step(state, batch).
// @remedy   tensorflow  Keep the state in tf.Variable and assign to it inside
//           tf.function(jit_compile=True): XLA aliases updates of variables, not tensors that are
//           passed in and returned.
// @remedy   pytorch     Update the whole tensor in place, with x.add_(...) or x.copy_(...): x[i] = y
//           makes a copy. Drop other references before torch_xla.sync() (xm.mark_step()). Under
//           torch.compile mark it with torch.ops.xla.dynamo_set_buffer_donor_(x, True).
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(b:Allocation)-[:HOLDS]->(w:Value)
WHERE b.maybeLiveOut = true AND b.parameterNumber IS NULL AND w.liveUntil = c.scheduleLength
      AND NOT w.dtype IN ['tuple', 'token', 'opaque']
OPTIONAL MATCH (b)-[:HOLDS]->(o:Value)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WHERE o.aliasSet <> w.aliasSet
WITH c, b, w, coalesce(sum(p.physicalBytes), 0) AS heldBytes
WITH c, w.shape AS outputShape,
     collect({liveFrom: w.liveFrom, memorySpace: b.memorySpace, physicalBytes: heldBytes})
     AS outputs
MATCH (c)-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.parameterNumber IS NOT NULL AND a.maybeLiveOut = false AND v.shape = outputShape
      AND NOT EXISTS { MATCH (a)-[:HOLDS]->(x:Value) WHERE x.valueId < v.valueId }
UNWIND outputs AS output
WITH a, v, count(*) AS candidateOutputs,
     sum(CASE WHEN output.liveFrom >= coalesce(v.lastUse, 0) THEN 1 ELSE 0 END) AS freeOutputs,
     sum(CASE WHEN output.liveFrom >= coalesce(v.lastUse, 0) AND output.memorySpace = a.memorySpace
              THEN 1 ELSE 0 END) AS freeInSpace,
     sum(CASE WHEN output.liveFrom >= coalesce(v.lastUse, 0) AND output.memorySpace = a.memorySpace
              THEN output.physicalBytes ELSE 0 END) AS heldInSpace
WITH a, v, candidateOutputs, freeOutputs, freeInSpace,
     heldInSpace / CASE WHEN freeInSpace > 0 THEN freeInSpace ELSE 1 END AS heldBytes
MATCH (:Compilation {key: $compilation})-[:USES_SPACE]->(s:MemorySpace)
WHERE s.color = a.memorySpace
RETURN a.parameterNumber AS parameterNumber, a.shapeIndex AS shapeIndex, v.label AS value,
       v.shape AS shape, v.sizeBytes AS sizeBytes, v.lastUse AS lastUse,
       candidateOutputs, freeOutputs,
       v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       a.memorySpace AS memorySpace, freeInSpace,
       CASE WHEN freeInSpace = 0 OR heldBytes > v.sizeBytes THEN 0
            ELSE v.sizeBytes - heldBytes END AS savedBytes,
       s.name AS memorySpaceName
ORDER BY sizeBytes DESC, parameterNumber, shapeIndex, value
LIMIT $limit
