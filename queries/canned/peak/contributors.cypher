// Values that hold the most memory at the peak of a compilation
// @kind     table
// @answers  What is biggest at the peak, and which line of mine made it?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   allocation    INTEGER       number of the allocation that holds it
// @column   offsetBytes   INTEGER       where it begins in the allocation
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share; 0 where a later value holds all its bytes
// @column   peakShare     FLOAT         part of the physical peak, 0 to 1; null if that is 0
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
// @measure  physical
// @note     All that is live at the physical peak. The shares add up to it; the sizes do not,
//           where one value overwrites another in place.
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
