// Values that are kept longest for their size
// @kind     table
// @answers  What stays alive longest for its size?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   sizeBytes   INTEGER       assigned size, padding included
// @column   role        STRING        role of the allocation that holds it
// @column   liveFrom    INTEGER       first step in which it is needed
// @column   liveUntil   INTEGER       last step in which it is needed, inclusive
// @column   steps       INTEGER       length of the live range, both ends counted
// @column   byteSteps   INTEGER       size times steps
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
