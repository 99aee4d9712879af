// Inputs that an output could have taken the place of
// @kind     table
// @answers  Which inputs could have been donated and were not?
// @param    compilation      STRING          key of a compilation, or a unique part of it
// @param    limit            INTEGER = 1000  rows to return
// @column   parameterNumber  INTEGER         number of the entry parameter
// @column   shapeIndex       STRING          place within that parameter, in braces
// @column   value            STRING          the value that the parameter is
// @column   shape            STRING          shape, without layout
// @column   sizeBytes        INTEGER         assigned size, padding included
// @column   lastUse          INTEGER         step of its last user; null if nothing reads it
// @column   candidateOutputs INTEGER         outputs of the same shape that lie in buffers of
//           their own
// @column   freeOutputs      INTEGER         of these, how many begin at or after the last use:
//           donation would work
// @column   opcode           STRING          opcode of the instruction that makes it
// @column   opName           STRING          op name of that instruction, as the framework set it
// @column   sourceFile       STRING          source file of that instruction
// @column   sourceLine       INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile         STRING          file of the innermost line outside of installed
//           packages
// @column   userLine         INTEGER         that line
// @column   memorySpace      INTEGER         number of the memory space of the input
// @column   freeInSpace      INTEGER         of the free outputs, how many lie in that space
// @column   savedBytes       INTEGER         reserved bytes that donating this input saves, as
//           `whatif --donate` plans it; an estimate where only the statement is run
// @column   memorySpaceName  STRING          HBM, VMEM or SMEM of a TPU, host on any device; else
//           null
// @measure  assigned, reserved
// @note     An input is a parameter that is not live-out, its first value by id. An output is
//           an array that lives to the end in a live-out allocation that is not a parameter.
// @note     Several inputs can name the same output; only one of them can have it.
// @note     An input that nothing reads could be donated to any of them.
// @note     The buffer of an output serves temporaries before the output is written. These need
//           another place once the output lies in the input, so that donating can save nothing.
// @note     The statement estimates savedBytes: the size of the input, less what else the buffer
//           of a free output in that space holds at the physical peak, on average. `xlagraph query`
//           and `serve` replan the memory for each row.
// @empty    no input that is not donated has the shape of an output that needs bytes of its own
// @advice   savedBytes reserved Inputs could be donated to outputs
// @change   donate
// @evidence parameterNumber shapeIndex value shape lastUse
// @once     shape freeInSpace
// @remedy   jax         Donate the arguments that the caller does not need afterwards:
//           jax.jit(step, donate_argnums=(0,)), or donate_argnames; call it as
//           state = step(state, batch).
// @remedy   tensorflow  Keep the state in tf.Variable and assign to it inside
//           tf.function(jit_compile=True): XLA aliases updates of variables, not tensors that are
//           passed in and returned.
// @remedy   pytorch     Update the tensor in place (x.add_(...), x.copy_(...)) and drop other
//           references before torch_xla.sync() (xm.mark_step()); under torch.compile mark it with
//           torch.ops.xla.dynamo_set_buffer_donor_(x, True).
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
