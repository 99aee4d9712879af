// Values that occupy one byte of an allocation
// @kind     table
// @answers  Which values occupy this byte of this allocation, and when?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    allocation  INTEGER         allocation number
// @param    offsetBytes INTEGER = 0     byte offset in the allocation, from 0
// @param    limit       INTEGER = 1000  rows to return
// @bounds   offsetBytes 0..
// @column   value       STRING          name of the value, with its tuple index
// @column   offsetBytes INTEGER         offset of the value in the allocation
// @column   sizeBytes   INTEGER         assigned size, including padding
// @column   liveFrom    INTEGER         first step of the live range
// @column   liveUntil   INTEGER         last step of the live range, inclusive
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that produces the value
// @column   opName      STRING          op name of that instruction, as set by the framework
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING          file of the innermost line outside installed packages
// @column   userLine    INTEGER         line in that file
// @shown    value sizeBytes userFile attributedOpName … offsetBytes
// @measure  assigned
// @note     Values without a live range are last.
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
