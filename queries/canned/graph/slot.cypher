// Values that lie at one byte of an allocation one after the other, as a picture
// @kind     graph
// @answers  Who takes over whose bytes in this slot?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    allocation  INTEGER       number of the allocation
// @param    offsetBytes INTEGER = 0   byte within the allocation, from 0
// @param    limit       INTEGER = 60  values to draw, the first in the schedule first
// @bounds   offsetBytes 0..
// @column   holder      PATH          a value that lies there
// @column   takes       PATH          whose bytes it takes over, if that lies there too
// @measure  shared
// @note     An arrow goes from the later value to the earlier one: UPDATES_IN_PLACE where both
//           are live, REUSES where the earlier one's range had ended.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation {number: $allocation})
MATCH (a)-[h:HOLDS]->(v:Value)
WHERE h.offsetBytes <= $offsetBytes AND $offsetBytes < h.offsetBytes + h.sizeBytes
WITH v
ORDER BY v.liveFrom, v.liveUntil, v.valueId
LIMIT $limit
// DISTINCT, else the embedded engine loses the order that the limit cuts
WITH DISTINCT v.key AS k, v.liveFrom AS liveFrom
WITH collect(k) AS keys
UNWIND keys AS k
MATCH holder = (x:Value {key: k})
OPTIONAL MATCH takes = (x)-[:REUSES|UPDATES_IN_PLACE]->(e:Value)
WHERE e.key IN keys
RETURN holder, takes
ORDER BY x.liveFrom, x.liveUntil, x.valueId, e.key
