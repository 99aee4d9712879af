// Temp blocks and how much of them is never used
// @kind     table
// @answers  Why is the temp block larger than its live values?
// @param    compilation       STRING   key of a compilation, or a unique part of it
// @column   allocation        INTEGER  allocation number
// @column   memorySpace       INTEGER  memory space of the allocation
// @column   sizeBytes         INTEGER  reserved bytes
// @column   physicalPeakBytes INTEGER  largest number of bytes of the allocation occupied by live
//           values
// @column   physicalPeakStep  INTEGER  first step at which physicalPeakBytes is reached
// @column   unusedBytes       INTEGER  sizeBytes − physicalPeakBytes
// @column   unusedShare       FLOAT    unusedBytes ÷ sizeBytes, 0 to 1; null if sizeBytes is 0
// @column   largestHoleBytes  INTEGER  longest unused byte range at that step
// @column   packingBytes      INTEGER  part of unusedBytes that is used at other steps: lost to
//           packing; the rest is never used
// @column   memorySpaceName   STRING   such as HBM or VMEM; null where XLA has none
// @shown    … memorySpace memorySpaceName
// @measure  reserved, physical
// @advice   packingBytes reserved Temp blocks are larger than their live values
// @change   pack
// @evidence allocation sizeBytes physicalPeakBytes largestHoleBytes
// @remedy   jax         Holes are caused by large arrays of different sizes with overlapping live
//           ranges: run the layers or micro-batches as a loop (jax.lax.scan), shorten live ranges
//           with jax.checkpoint, and give consecutive arrays equal sizes.
// @remedy   tensorflow  Holes are caused by large tensors of different sizes with overlapping live
//           ranges: use tf.while_loop over micro-batches, shorten live ranges with
//           tf.recompute_grad, and pad batches to one size.
// @remedy   pytorch     Holes are caused by large tensors of different sizes with overlapping live
//           ranges: use torch_xla.experimental.scan_layers, shorten live ranges with
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
