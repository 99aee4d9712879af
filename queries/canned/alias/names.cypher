// Names of a value
// @kind     table
// @answers  Which names does this value have (in tuples, calls, loops)?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          value label with its tuple index: fusion.7, while.1{1}
// @param    limit       INTEGER = 1000  rows to return
// @column   name        STRING          instruction whose result contains the value
// @column   shapeIndex  STRING          tuple index in that result, in braces; null if it is not a
//           tuple
// @column   opcode      STRING          opcode of that instruction
// @column   step        INTEGER         step of that instruction
// @shown    … shapeIndex
// @measure  none
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
// OPTIONAL: for a MATCH the embedded engine would read every position of the graph
OPTIONAL MATCH (v)-[p:APPEARS_AT]->(i:Instruction)
WITH p, i WHERE i.name IS NOT NULL
RETURN i.name AS name, p.shapeIndex AS shapeIndex, i.opcode AS opcode, i.step AS step
ORDER BY step, shapeIndex, name
LIMIT $limit
