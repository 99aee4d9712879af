// Values that reuse the bytes of another value
// @kind     table
// @answers  Which values reuse the bytes of which?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   earlier     STRING        value that last occupied the bytes
// @column   later       STRING        value that reuses the bytes
// @column   allocation  INTEGER       number of the allocation that contains the value
// @column   sharedBytes INTEGER       bytes that the later value reuses
// @column   freedAt     INTEGER       last step of the earlier value
// @column   reusedAt    INTEGER       first step of the later value
// @column   gapSteps    INTEGER       steps from freedAt to reusedAt
// @column   shape       STRING        shape of the later value, without layout
// @column   opcode      STRING        opcode of the instruction
// @column   opName      STRING        op name of the later value, as set by the framework
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING        file of the innermost line outside installed packages
// @column   userLine    INTEGER       line in that file
// @shown    earlier later sharedBytes userFile attributedOpName … allocation
// @measure  shared
// @empty    no value reuses the bytes of another value
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// OPTIONAL: for a MATCH the embedded engine would read every value of the graph
OPTIONAL MATCH (v)-[u:REUSES]->(e:Value)
WITH a, v, u, e WHERE e.label IS NOT NULL
WITH v.key AS laterKey, e.label AS earlier, a.number AS allocation, u.sharedBytes AS sharedBytes,
     e.liveUntil AS freedAt, v.liveFrom AS reusedAt, u.gapSteps AS gapSteps
ORDER BY sharedBytes DESC, reusedAt, v.label, earlier LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (v:Value {key: laterKey})
RETURN earlier, v.label AS later, allocation, sharedBytes, freedAt, reusedAt, gapSteps,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sharedBytes DESC, reusedAt, later, earlier
