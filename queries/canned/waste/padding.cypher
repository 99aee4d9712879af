// Values with padding
// @kind     table
// @answers  How much padding is there, and in which shapes?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   shape         STRING        shape, without layout
// @column   layout        STRING        layout as printed
// @column   denseBytes    INTEGER       size without padding: number of elements × bits of the
//           type, in bytes
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   paddingBytes  INTEGER       sizeBytes − denseBytes
// @column   ratio         FLOAT         sizeBytes ÷ denseBytes; null if there are no elements
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   dtype         STRING        element type
// @column   memorySpace   INTEGER       memory space of the allocation
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   peakPaddingBytes INTEGER    padding within the physical peak share; null if not
//           live at that peak
// @column   memorySpaceName STRING        such as HBM or VMEM; null where XLA has none
// @column   totalPaddingBytes INTEGER   paddingBytes of all values of the compilation, including
//           those beyond the limit; the same in every row
// @shown    value paddingBytes userFile shape sizeBytes … ratio dtype opcode opName sourceFile
//           layout memorySpace memorySpaceName
// @measure  dense, assigned, physical
// @note     Tuple tables and shapes without a bound are excluded, because they have no dense size.
// @note     Values that overwrite one another in place pad the same bytes. Each has a row and
//           counts in the total, as do values that are live one after the other.
// @empty    no value is padded
// @advice   peakPaddingBytes physical Padding fills the peak
// @change   dense
// @evidence value shape layout ratio attributedOpName userFile userLine
// @remedy   jax         Make the minor-most dimensions multiples of the tile size (on TPU 8 × 128
//           for 32-bit types): transpose, reshape or merge narrow dimensions, and keep arrays like
//           [n, 1] as [n].
// @remedy   tensorflow  Make the last two dimensions multiples of the tile size: remove narrow ones
//           with tf.reshape or tf.transpose, and choose batch and feature sizes to fit.
// @remedy   pytorch     Make the last two dimensions multiples of the tile size: remove narrow ones
//           with reshape, permute or squeeze, and pad batch and feature sizes to fit.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > v.denseBytes
WITH sum(v.sizeBytes - v.denseBytes) AS totalPaddingBytes
// match by key again: from c the embedded engine would read every value of the graph
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
