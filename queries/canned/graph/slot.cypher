// Values that occupy one byte of an allocation one after the other, as a picture
// @kind     graph
// @answers  Which values reuse whose bytes in this slot?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    allocation  INTEGER       allocation number
// @param    offsetBytes INTEGER = 0   byte offset in the allocation, from 0
// @param    limit       INTEGER = 60  values drawn, in schedule order
// @bounds   offsetBytes 0..
// @column   holder      PATH          value that contains the byte
// @column   takes       PATH          path to the value whose bytes it reuses, if that contains the
//           byte too
// @measure  shared
// @note     An arrow points from the later value to the earlier one: UPDATES_IN_PLACE if both are
//           live, REUSES if the earlier one's live range has ended.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation {number: $allocation})
MATCH (a)-[h:HOLDS]->(v:Value)
WHERE h.offsetBytes <= $offsetBytes AND $offsetBytes < h.offsetBytes + h.sizeBytes
WITH v
ORDER BY v.liveFrom, v.liveUntil, v.valueId
LIMIT $limit
// without DISTINCT the embedded engine loses the order that the limit cuts
WITH DISTINCT v.key AS k, v.liveFrom AS liveFrom
WITH collect(k) AS keys
UNWIND keys AS k
MATCH holder = (x:Value {key: k})
OPTIONAL MATCH takes = (x)-[:REUSES|UPDATES_IN_PLACE]->(e:Value)
WHERE e.key IN keys
RETURN holder, takes
ORDER BY x.liveFrom, x.liveUntil, x.valueId, e.key
