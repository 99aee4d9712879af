// The call path to the line that made a value, as a picture
// @kind     graph
// @answers  Through which calls in my program was this value made?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    value       STRING        value label with its tuple index: fusion.7, while.1{1}
// @param    limit       INTEGER = 58  number of calls to draw, from the innermost
// @column   made        PATH          path from the value to its source line
// @column   called      PATH          path from that place through its callers
// @measure  none
// @note     Dumps without a table of stack frames have no call paths. Stacks deeper than 121 frames
//           are cut at the outer end.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
MATCH made = (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
// a walk takes at most 30 steps, and a frame has one caller: four walks, one after the other
OPTIONAL MATCH (f)-[:CALLED_FROM*1..30]->(b:Frame) WHERE b.depth = f.depth - 30
OPTIONAL MATCH (b)-[:CALLED_FROM*1..30]->(d:Frame) WHERE d.depth = b.depth - 30
OPTIONAL MATCH (d)-[:CALLED_FROM*1..30]->(e:Frame) WHERE e.depth = d.depth - 30
WITH v.key AS own, f.key AS innermost,
     [f.key, coalesce(b.key, ''), coalesce(d.key, ''), coalesce(e.key, '')] AS walks
UNWIND walks AS walk
MATCH made = (:Value {key: own})-[:ATTRIBUTED_FRAME]->(:Frame)
OPTIONAL MATCH called = (:Frame {key: walk})-[:CALLED_FROM*1..30]->(g)
WITH made, called, g, walk, innermost
WHERE g.key IS NOT NULL OR walk = innermost
RETURN made, called
ORDER BY g.depth DESC, g.key
LIMIT $limit
