// Lines of your own code that hold the most memory at the peak
// @kind     table
// @answers  Which line of my code is biggest at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @column   userFunction  STRING        function there; null where the dump has no call stacks
// @column   values        INTEGER       how many values are live at the peak
// @column   physicalBytes INTEGER       their own shares of the physical peak
// @column   peakShare     FLOAT         part of the physical peak, 0 to 1; null if that is 0
// @column   sizeBytes     INTEGER       their assigned sizes, both sides of an in-place update
// @column   largest       STRING        the value among them with the largest share
// @measure  physical
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     Parameters have op names, but no line: they are in the group null.
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
