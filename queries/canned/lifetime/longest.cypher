// Values by size times length of their live range
// @kind     table
// @answers  Which large values are live longest?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   sizeBytes   INTEGER       assigned size, including padding
// @column   role        STRING        role of the allocation that contains the value
// @column   liveFrom    INTEGER       first step of the live range
// @column   liveUntil   INTEGER       last step of the live range, inclusive
// @column   steps       INTEGER       length of the live range in steps, both ends included
// @column   byteSteps   INTEGER       sizeBytes × steps
// @column   shape       STRING        shape, without layout
// @column   opcode      STRING        opcode of the instruction that produces the value
// @column   opName      STRING        op name of that instruction, as set by the framework
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING        file of the innermost line outside installed packages
// @column   userLine    INTEGER       line in that file
// @shown    value sizeBytes userFile attributedOpName
// @measure  assigned
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.liveFrom IS NOT NULL
RETURN v.label AS value, v.sizeBytes AS sizeBytes, a.role AS role,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil,
       v.liveUntil - v.liveFrom + 1 AS steps,
       v.sizeBytes * (v.liveUntil - v.liveFrom + 1) AS byteSteps,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY byteSteps DESC, value
LIMIT $limit
