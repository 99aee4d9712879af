// Op names that hold the most memory at the peak
// @kind     table
// @answers  Which op is biggest at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   opName        STRING        op name that the values belong to, as set by the framework
// @column   values        INTEGER       number of values live at the peak
// @column   physicalBytes INTEGER       total share of the physical peak
// @column   peakShare     FLOAT         fraction of the physical peak, 0 to 1; null if the peak is
//           0
// @column   sizeBytes     INTEGER       total assigned size; an in-place update counts both its
//           values
// @measure  physical
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WITH max(s.physicalPeakBytes) AS peakBytes,
     v.attributedOpName AS opName, count(v) AS values,
     sum(p.physicalBytes) AS physicalBytes, sum(v.sizeBytes) AS sizeBytes
RETURN opName, values, physicalBytes,
       CASE WHEN peakBytes > 0 THEN 1.0 * physicalBytes / peakBytes ELSE null END AS peakShare,
       sizeBytes
ORDER BY physicalBytes DESC, sizeBytes DESC, opName
LIMIT $limit
