// The call path of the line that made a value, as a picture
// @kind     graph
// @answers  Through which calls of mine did this value come about?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    value       STRING        label of a value, with its tuple index: fusion.7,
//           while.1{1}
// @param    limit       INTEGER = 58  calls to draw, the innermost first
// @column   made        PATH          the place in the source of the op that it belongs to
// @column   called      PATH          the callers of that place
// @measure  none
// @note     Dumps without a table of stack frames have no call paths.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
MATCH made = (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
OPTIONAL MATCH called = (f)-[:CALLED_FROM*1..30]->(g)
RETURN made, called
ORDER BY length(called), g.key
LIMIT $limit
