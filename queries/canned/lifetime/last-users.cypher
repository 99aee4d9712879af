// The largest values and the last instruction that uses each
// @kind     table
// @answers  Which instruction is the last to use each of the largest values?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   sizeBytes   INTEGER       assigned size, including padding
// @column   instruction STRING        last instruction in the schedule that uses the value; null if
//           none does
// @column   step        INTEGER       step of that instruction
// @column   readerFile  STRING        source file of your line that this instruction comes from
// @column   readerLine  INTEGER       line in that file
// @column   liveUntil   INTEGER       last step of the live range, inclusive
// @column   shape       STRING        shape, without layout
// @column   opcode      STRING        opcode of the instruction that produces the value
// @column   opName      STRING        op name of that instruction, as set by the framework
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING        file of the innermost line outside installed packages
// @column   userLine    INTEGER       line in that file
// @shown    value sizeBytes readerFile instruction userFile attributedOpName
// @measure  assigned
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v.key AS valueKey ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (v:Value {key: valueKey})
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction) WHERE i.step = v.lastUse
OPTIONAL MATCH (i)-[:DEFINES]->(m:Value)
WITH v, i, min(m.userFile) AS file, min(m.userLine) AS line
RETURN v.label AS value, v.sizeBytes AS sizeBytes, i.name AS instruction,
       v.lastUse AS step, coalesce(file, i.sourceFile) AS readerFile,
       CASE WHEN file IS NULL THEN i.sourceLine ELSE line END AS readerLine,
       v.liveUntil AS liveUntil,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
