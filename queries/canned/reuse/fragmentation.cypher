// Temp blocks and how much of them is never filled
// @kind     table
// @answers  Why is the temp block larger than what lives in it?
// @param    compilation       STRING   key of a compilation, or a unique part of it
// @column   allocation        INTEGER  number of the allocation
// @column   memorySpace       INTEGER  number of the memory space of the allocation
// @column   sizeBytes         INTEGER  bytes reserved
// @column   physicalPeakBytes INTEGER  most of its bytes that hold a live value at one step
// @column   physicalPeakStep  INTEGER  first step with that many
// @column   unusedBytes       INTEGER  the difference
// @column   unusedShare       FLOAT    the difference as a part of its size, 0 to 1; null if its
//           size is 0
// @column   largestHoleBytes  INTEGER  longest run of bytes without a live value at that step
// @column   packingBytes      INTEGER  of the unused bytes, at most so many that values take at
//           other steps: lost to packing, where the rest is never taken
// @column   memorySpaceName   STRING   HBM, VMEM or SMEM of a TPU, host on any device; else null
// @measure  reserved, physical
// @advice   packingBytes reserved Temp blocks are larger than what lives in them
// @change   pack
// @evidence allocation sizeBytes physicalPeakBytes largestHoleBytes
// @remedy   jax         Holes come from large arrays of unlike sizes whose live ranges cross: run
//           the layers or micro-batches as a loop (jax.lax.scan), shorten ranges with
//           jax.checkpoint, and give arrays that follow one another equal sizes.
// @remedy   tensorflow  Holes come from large tensors of unlike sizes whose live ranges cross: use
//           tf.while_loop over micro-batches, shorten ranges with tf.recompute_grad, and pad
//           batches to one size.
// @remedy   pytorch     Holes come from large tensors of unlike sizes whose live ranges cross: use
//           torch_xla.experimental.scan_layers, shorten ranges with
//           torch_xla.utils.checkpoint.checkpoint, and pad batches to one size.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
WITH a, s WHERE a.role = 'temp'
OPTIONAL MATCH (a)-[:HOLDS]->(v:Value)
WITH a, s, coalesce(sum(CASE WHEN v.liveFrom IS NULL THEN 0 ELSE v.sizeBytes END), 0) AS valueBytes
WITH a, s, a.sizeBytes - a.physicalPeakBytes AS unusedBytes,
     valueBytes - a.physicalPeakBytes AS otherBytes
RETURN a.number AS allocation, a.memorySpace AS memorySpace, a.sizeBytes AS sizeBytes,
       a.physicalPeakBytes AS physicalPeakBytes, a.physicalPeakStep AS physicalPeakStep,
       unusedBytes,
       CASE WHEN a.sizeBytes > 0 THEN 1.0 * unusedBytes / a.sizeBytes ELSE null END AS unusedShare,
       a.largestHoleBytes AS largestHoleBytes,
       CASE WHEN otherBytes < unusedBytes THEN otherBytes ELSE unusedBytes END AS packingBytes,
       s.name AS memorySpaceName
ORDER BY unusedBytes DESC, allocation
