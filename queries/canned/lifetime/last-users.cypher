// The largest values and the instruction that needs each last
// @kind     table
// @answers  Which instruction is the last to need each of the largest values?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   sizeBytes   INTEGER       assigned size, padding included
// @column   instruction STRING        its last user by step; null if none is in the schedule
// @column   step        INTEGER       the step of that
// @column   liveUntil   INTEGER       last step in which it is needed, inclusive
// @column   shape       STRING        shape, without layout
// @column   opcode      STRING        opcode of the instruction that makes it
// @column   opName      STRING        op name of that instruction, as the framework set it
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile    STRING        file of the innermost line outside of installed packages
// @column   userLine    INTEGER       that line
// @measure  assigned
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction) WHERE i.step = v.lastUse
RETURN DISTINCT v.label AS value, v.sizeBytes AS sizeBytes, i.name AS instruction,
       v.lastUse AS step, v.liveUntil AS liveUntil,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
