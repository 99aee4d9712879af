// Values that overwrite another one in place
// @kind     table
// @answers  Who overwrites whom in place?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   earlier     STRING        the value that is overwritten
// @column   later       STRING        the value that overwrites it
// @column   allocation  INTEGER       number of the allocation that holds it
// @column   sharedBytes INTEGER       bytes that it takes over
// @column   step        INTEGER       the step in which both are live
// @column   instruction STRING        the one that makes the later value
// @column   shape       STRING        shape of the later value, without layout
// @column   opcode      STRING        its opcode
// @column   opName      STRING        its op name, as the framework set it
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile    STRING        file of the innermost line outside of installed packages
// @column   userLine    INTEGER       that line
// @measure  shared
// @empty    nothing is overwritten in place in this compilation
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// OPTIONAL: for a MATCH the embedded engine would read every value of the graph
OPTIONAL MATCH (v)-[u:UPDATES_IN_PLACE]->(e:Value)
WITH a, v, u, e WHERE e.label IS NOT NULL
RETURN e.label AS earlier, v.label AS later, a.number AS allocation,
       u.sharedBytes AS sharedBytes, u.step AS step, v.name AS instruction,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sharedBytes DESC, step, later, earlier
LIMIT $limit
