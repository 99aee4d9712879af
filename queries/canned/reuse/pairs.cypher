// Values that take over the bytes of another one
// @kind     table
// @answers  Whose bytes are taken over by whom?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   earlier     STRING        the value that had the bytes last
// @column   later       STRING        the value that takes them over
// @column   allocation  INTEGER       number of the allocation that holds it
// @column   sharedBytes INTEGER       bytes that it takes over
// @column   freedAt     INTEGER       last step of the earlier one
// @column   reusedAt    INTEGER       first step of the later one
// @column   gapSteps    INTEGER       from the one to the other
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
// @empty    no value takes over the bytes of another one
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// OPTIONAL: for a MATCH the embedded engine would read every value of the graph
OPTIONAL MATCH (v)-[u:REUSES]->(e:Value)
WITH a, v, u, e WHERE e.label IS NOT NULL
RETURN e.label AS earlier, v.label AS later, a.number AS allocation,
       u.sharedBytes AS sharedBytes, e.liveUntil AS freedAt, v.liveFrom AS reusedAt,
       u.gapSteps AS gapSteps,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sharedBytes DESC, reusedAt, later, earlier
LIMIT $limit
