// Values that hold the most memory at a compilation's peak
// @kind     table
// @answers  What is biggest at the peak, and which line of mine made it?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   allocation    INTEGER       number of the allocation that contains the value
// @column   offsetBytes   INTEGER       offset of the value in the allocation
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; 0 if a later value occupies all
//           its bytes
// @column   peakShare     FLOAT         fraction of the physical peak, 0 to 1; null if the peak is
//           0
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
// @shown    value physicalBytes userFile attributedOpName sizeBytes … allocation offsetBytes
// @measure  physical
// @note     Rows are all values live at the physical peak. The shares add up to the peak; the sizes
//           do not if one value overwrites another in place.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
RETURN v.label AS value, v.allocation AS allocation, v.offsetBytes AS offsetBytes,
       v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       CASE WHEN s.physicalPeakBytes > 0 THEN 1.0 * p.physicalBytes / s.physicalPeakBytes
            ELSE null END AS peakShare,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil
ORDER BY physicalBytes DESC, sizeBytes DESC, value
LIMIT $limit
