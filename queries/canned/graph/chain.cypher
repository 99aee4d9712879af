// Values that share a value's storage by aliasing, as a picture
// @kind     graph
// @answers  Which values share the storage of this value, and which overwrote which?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    value       STRING        value label with its tuple index: fusion.7, while.1{1}
// @param    limit       INTEGER = 60  values drawn, nearest in the chain first
// @column   holder      PATH          value of the chain
// @column   overwrites  PATH          path to the value that it overwrites in place, if that is
//           drawn too
// @measure  shared
// @note     An arrow points from the later value to the earlier one. A value that nothing aliases
//           is drawn without arrows.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// select the value first: Neo4j would pair all values of the allocation
WITH DISTINCT a, v WHERE v.label = $value
MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.aliasSet = v.aliasSet
WITH w, abs(w.aliasPosition - v.aliasPosition) AS distance
ORDER BY distance, w.valueId
LIMIT $limit
// without DISTINCT the embedded engine loses the order that the limit cuts
WITH DISTINCT w.key AS k, distance
WITH collect(k) AS keys
UNWIND keys AS k
MATCH holder = (x:Value {key: k})
OPTIONAL MATCH overwrites = (x)-[:UPDATES_IN_PLACE]->(e:Value)
WHERE e.key IN keys
RETURN holder, overwrites
ORDER BY x.aliasPosition, x.key, e.key
