// Values that are larger than their elements
// @kind     table
// @answers  How much is padding, in which shape?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   shape         STRING        shape, without layout
// @column   layout        STRING        layout as printed
// @column   denseBytes    INTEGER       elements × bits of the type
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   paddingBytes  INTEGER       the difference
// @column   ratio         FLOAT         size ÷ dense; null if there are no elements
// @column   physicalBytes INTEGER       its own share of the physical peak; null where it is not
//           live then
// @column   dtype         STRING        element type
// @column   memorySpace   INTEGER       number of the memory space of the allocation
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @column   peakPaddingBytes INTEGER    padding within its share of the physical peak; null where
//           it is not live then
// @column   memorySpaceName STRING        HBM, VMEM or SMEM of a TPU, host on any device; else null
// @column   totalPaddingBytes INTEGER   paddingBytes of all values of the compilation, also of those
//           beyond the limit: the same in every row
// @measure  dense, assigned, physical
// @note     Tuple tables are left out, and shapes without a bound: they have no dense size.
// @note     Values that overwrite one another in place pad the same bytes; each has its row,
//           and counts in the total, as do values that are live one after the other.
// @advice   peakPaddingBytes physical Padding fills the peak
// @change   dense
// @evidence value shape layout ratio attributedOpName userFile userLine
// @remedy   jax         Give the minor-most dimensions sizes that the tiles divide (on TPU 8 × 128
//           for 32-bit types): transpose, reshape or merge the narrow ones, and keep arrays like
//           [n, 1] as [n].
// @remedy   tensorflow  Give the last two dimensions sizes that the tiles divide: tf.reshape or
//           tf.transpose narrow ones away, and choose batch and feature sizes to fit.
// @remedy   pytorch     Give the last two dimensions sizes that the tiles divide: reshape,
//           permute or squeeze narrow ones away, and pad batch and feature sizes to fit.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > v.denseBytes
WITH sum(v.sizeBytes - v.denseBytes) AS totalPaddingBytes
// by key again: from c the embedded engine would read every value of the graph
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > v.denseBytes
WITH totalPaddingBytes, c, a, v ORDER BY v.sizeBytes - v.denseBytes DESC, v.label LIMIT $limit
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.shape AS shape, v.layout AS layout, v.denseBytes AS denseBytes,
       v.sizeBytes AS sizeBytes, v.sizeBytes - v.denseBytes AS paddingBytes,
       CASE WHEN v.denseBytes > 0 THEN 1.0 * v.sizeBytes / v.denseBytes ELSE null END AS ratio,
       p.physicalBytes AS physicalBytes, v.dtype AS dtype, a.memorySpace AS memorySpace,
       v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       CASE WHEN p.physicalBytes < v.sizeBytes - v.denseBytes THEN p.physicalBytes
            WHEN p.physicalBytes IS NULL THEN null
            ELSE v.sizeBytes - v.denseBytes END AS peakPaddingBytes,
       s.name AS memorySpaceName, totalPaddingBytes
ORDER BY paddingBytes DESC, value
LIMIT $limit
