// Lines of your code that hold the most memory at the peak
// @kind     table
// @answers  Which line of my code is biggest at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   userFunction  STRING        function that contains the line; null if the dump has no
//           call stacks
// @column   values        INTEGER       number of values live at the peak
// @column   physicalBytes INTEGER       total share of the physical peak
// @column   peakShare     FLOAT         fraction of the physical peak, 0 to 1; null if the peak is
//           0
// @column   sizeBytes     INTEGER       total assigned size; an in-place update counts both its
//           values
// @column   largest       STRING        value with the largest share in the group
// @measure  physical
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     Parameters have op names but no line: they are in the null group.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WITH max(s.physicalPeakBytes) AS peakBytes,
     v.userFile AS userFile, v.userLine AS userLine, v.userFunction AS userFunction,
     count(v) AS values, sum(p.physicalBytes) AS physicalBytes, sum(v.sizeBytes) AS sizeBytes,
     max(p.physicalBytes) AS most,
     collect({label: v.label, physicalBytes: p.physicalBytes}) AS shares
UNWIND shares AS part
WITH userFile, userLine, userFunction, max(peakBytes) AS peakBytes, max(values) AS values,
     max(physicalBytes) AS physicalBytes, max(sizeBytes) AS sizeBytes,
     min(CASE WHEN part.physicalBytes = most THEN part.label ELSE null END) AS largest
RETURN userFile, userLine, userFunction, values, physicalBytes,
       CASE WHEN peakBytes > 0 THEN 1.0 * physicalBytes / peakBytes ELSE null END AS peakShare,
       sizeBytes, largest
ORDER BY physicalBytes DESC, sizeBytes DESC, userFile, userLine, userFunction
LIMIT $limit
