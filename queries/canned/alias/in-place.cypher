// Values that overwrite another one in place
// @kind     table
// @answers  Which values overwrite which in place?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   earlier     STRING        value that is overwritten
// @column   later       STRING        value that overwrites the earlier one
// @column   allocation  INTEGER       number of the allocation that contains the value
// @column   sharedBytes INTEGER       bytes that the later value reuses
// @column   step        INTEGER       step at which both are live
// @column   instruction STRING        instruction that makes the later value
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
// @empty    nothing is overwritten in place in this compilation
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// OPTIONAL: for a MATCH the embedded engine would read every value of the graph
OPTIONAL MATCH (v)-[u:UPDATES_IN_PLACE]->(e:Value)
WITH a, v, u, e WHERE e.label IS NOT NULL
WITH v.key AS laterKey, e.label AS earlier, a.number AS allocation, u.sharedBytes AS sharedBytes,
     u.step AS step
ORDER BY sharedBytes DESC, step, v.label, earlier LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (v:Value {key: laterKey})
RETURN earlier, v.label AS later, allocation, sharedBytes, step, v.name AS instruction,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sharedBytes DESC, step, later, earlier
