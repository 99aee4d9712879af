// Gathered and replicated tensors that are live at the peak
// @kind     table
// @answers  Which gathered tensors, and which parameters that every device holds whole, are live at
//           the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak
// @column   rootOpcode    STRING        opcode of the root, where it is a fusion
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @column   liveFrom      INTEGER       first step in which it is needed
// @column   liveUntil     INTEGER       last step in which it is needed, inclusive
// @column   sharding      STRING        of a parameter: how it is split over devices; else null
// @column   devices       INTEGER       devices that it could be split over
// @measure  physical
// @note     An all-gather, an all-gather-start, or a fusion rooted in one; the tuple table of
//           such is left out.
// @note     Of a program for several devices also each parameter that all of them hold whole,
//           if others are split.
// @empty    nothing gathered is live at the peak, nor a parameter that every device holds whole
//           while others are split
// @advice   physicalBytes physical Every device holds tensors whole that could stay split
// @change   shard
// @evidence value shape devices liveFrom liveUntil attributedOpName userFile userLine
// @remedy   jax         Keep it sharded for as long as it is kept:
//           jax.lax.with_sharding_constraint(x, sharding) or in_shardings of jax.jit; gather the
//           weights of one layer at a time (jax.lax.scan over layers), and gather again in the
//           backward pass (jax.checkpoint) instead of saving the result.
// @remedy   tensorflow  Keep it sharded with DTensor layouts
//           (tf.experimental.dtensor.relayout), gather inside the layer that needs it and
//           tf.recompute_grad that layer.
// @remedy   pytorch     Keep it sharded: torch_xla.distributed.spmd.mark_sharding(x, mesh, spec);
//           with FSDP wrap each layer on its own and set reshard_after_forward=True.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
OPTIONAL MATCH (c)-[:SCHEDULES]->(q:Instruction)
WITH c.partitions AS partitions,
     sum(CASE WHEN q.sharding CONTAINS 'devices=' THEN 1 ELSE 0 END) AS splitParameters
MATCH (:Compilation {key: $compilation})-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE v.opcode IN ['all-gather', 'all-gather-start', 'fusion', 'parameter']
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
MATCH (v)<-[:DEFINES]-(i:Instruction)
WHERE v.opcode IN ['all-gather', 'all-gather-start']
      OR (v.opcode = 'fusion' AND i.rootOpcode IN ['all-gather', 'all-gather-start'])
      OR (i.sharding = '{replicated}' AND partitions > 1 AND splitParameters > 0)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       i.rootOpcode AS rootOpcode,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, i.sharding AS sharding, partitions AS devices
ORDER BY physicalBytes DESC, sizeBytes DESC, value
LIMIT $limit
