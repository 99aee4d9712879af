// Gathered and replicated tensors that are live at the peak
// @kind     table
// @answers  Which gathered tensors, and which replicated parameters, are live at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak
// @column   rootOpcode    STRING        opcode of the root, if the instruction is a fusion
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   liveFrom      INTEGER       first step of the live range
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   sharding      STRING        sharding of a parameter across devices; otherwise null
// @column   devices       INTEGER       number of devices that the value could be split across
// @column   isDataParallel BOOLEAN      true for a replicated parameter if none of its category is
//           split; null for what is gathered
// @shown    value sizeBytes userFile physicalBytes attributedOpName
// @measure  physical
// @note     Rows are results of an all-gather, an all-gather-start, or a fusion rooted in one,
//           without their tuple tables.
// @note     For a program on several devices, rows also include each parameter that is replicated
//           on all devices, if other parameters are split. Weights that are replicated next to a
//           split batch are data parallelism: isDataParallel. Without shardings in the dump it is
//           unknown which parameters are replicated.
// @empty    no gathered tensor is live at the peak, and no parameter is known to be replicated on
//           every device while others are split
// @advice   physicalBytes physical Every device holds complete tensors that could stay sharded
// @change   shard
// @evidence value shape devices liveFrom liveUntil attributedOpName userFile userLine
// @remedy   jax         Keep it sharded while it is live: jax.lax.with_sharding_constraint(x,
//           sharding) or in_shardings of jax.jit; gather the weights of one layer at a time
//           (jax.lax.scan over layers), and gather again in the backward pass (jax.checkpoint)
//           instead of saving the result.
// @remedy   tensorflow  Keep it sharded with DTensor layouts (tf.experimental.dtensor.relayout),
//           gather inside the layer that needs it and wrap that layer in tf.recompute_grad.
// @remedy   pytorch     Keep it sharded: torch_xla.distributed.spmd.mark_sharding(x, mesh, spec);
//           with FSDP wrap each layer separately and set reshard_after_forward=True.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
OPTIONAL MATCH (c)-[:SCHEDULES]->(q:Instruction)-[:DEFINES]->(w:Value)
WHERE q.shardingParts > 1
WITH c.partitions AS partitions, collect(w.category) AS splitCategories
MATCH (:Compilation {key: $compilation})-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE v.opcode IN ['all-gather', 'all-gather-start', 'fusion', 'parameter']
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
MATCH (v)<-[:DEFINES]-(i:Instruction)
WHERE v.opcode IN ['all-gather', 'all-gather-start']
      OR (v.opcode = 'fusion' AND i.rootOpcode IN ['all-gather', 'all-gather-start'])
      OR (i.shardingParts = 1 AND partitions > 1 AND size(splitCategories) > 0)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       i.rootOpcode AS rootOpcode,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, i.sharding AS sharding, partitions AS devices,
       CASE WHEN v.opcode = 'parameter' THEN NOT v.category IN splitCategories ELSE null END AS isDataParallel
ORDER BY physicalBytes DESC, sizeBytes DESC, value
LIMIT $limit
