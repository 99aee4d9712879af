// Scopes of the program that hold the most memory at the peak
// @kind     table
// @answers  Which layer or function is biggest at the peak?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    depth         INTEGER = 3   number of leading parts of the op name to keep, from 1
// @param    limit         INTEGER = 20  rows to return
// @bounds   depth         1..
// @column   scope         STRING        leading parts of the op name; null if there is no op name
// @column   values        INTEGER       number of values live at the peak
// @column   physicalBytes INTEGER       total share of the physical peak
// @column   peakShare     FLOAT         fraction of the physical peak, 0 to 1; null if the peak is
//           0
// @column   sizeBytes     INTEGER       total assigned size; an in-place update counts both its
//           values
// @measure  physical
// @note     An op name with fewer parts than depth is a scope by itself, so that every value is
//           counted.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_TO]->(:Op)-[:WITHIN]->(z:Scope {depth: $depth})
WITH max(s.physicalPeakBytes) AS peakBytes,
     coalesce(z.name, v.attributedOpName) AS scope, count(v) AS values,
     sum(p.physicalBytes) AS physicalBytes, sum(v.sizeBytes) AS sizeBytes
RETURN scope, values, physicalBytes,
       CASE WHEN peakBytes > 0 THEN 1.0 * physicalBytes / peakBytes ELSE null END AS peakShare,
       sizeBytes
ORDER BY physicalBytes DESC, sizeBytes DESC, scope
LIMIT $limit
