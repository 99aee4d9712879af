// Values that share the storage of one by aliasing, as a picture
// @kind     graph
// @answers  Which values share the storage of this one, who overwrote whom?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    value       STRING        label of a value, with its tuple index: fusion.7,
//           while.1{1}
// @param    limit       INTEGER = 60  values to draw, the nearest in the chain first
// @column   holder      PATH          a value of the chain
// @column   overwrites  PATH          what it overwrites in place, if that is drawn too
// @measure  shared
// @note     An arrow goes from the later value to the earlier one. A value that nothing aliases
//           stands alone.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// the one value first: Neo4j would pair all values of the allocation
WITH DISTINCT a, v WHERE v.label = $value
MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.aliasSet = v.aliasSet
WITH w, abs(w.aliasPosition - v.aliasPosition) AS distance
ORDER BY distance, w.valueId
LIMIT $limit
// DISTINCT, else the embedded engine loses the order that the limit cuts
WITH DISTINCT w.key AS k, distance
WITH collect(k) AS keys
UNWIND keys AS k
MATCH holder = (x:Value {key: k})
OPTIONAL MATCH overwrites = (x)-[:UPDATES_IN_PLACE]->(e:Value)
WHERE e.key IN keys
RETURN holder, overwrites
ORDER BY x.aliasPosition, x.key, e.key
