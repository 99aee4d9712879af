// Values that lie at one byte of an allocation
// @kind     table
// @answers  Who lives at this byte of this allocation, when?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    allocation  INTEGER         number of the allocation
// @param    offsetBytes INTEGER = 0     byte within the allocation, from 0
// @param    limit       INTEGER = 1000  rows to return
// @bounds   offsetBytes 0..
// @column   value       STRING          name of the value, with its tuple index
// @column   offsetBytes INTEGER         where it begins in the allocation
// @column   sizeBytes   INTEGER         assigned size, padding included
// @column   liveFrom    INTEGER         first step in which it is needed
// @column   liveUntil   INTEGER         last step in which it is needed, inclusive
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that makes it
// @column   opName      STRING          op name of that instruction, as the framework set it
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile    STRING          file of the innermost line outside of installed packages
// @column   userLine    INTEGER         that line
// @measure  assigned
// @note     Values without a live range come last.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation {number: $allocation})
MATCH (a)-[h:HOLDS]->(v:Value)
WHERE h.offsetBytes <= $offsetBytes AND $offsetBytes < h.offsetBytes + h.sizeBytes
RETURN v.label AS value, h.offsetBytes AS offsetBytes, v.sizeBytes AS sizeBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY liveFrom, liveUntil, v.valueId
LIMIT $limit
