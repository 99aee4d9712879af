// Constants, iotas and broadcasts that are written out in memory
// @kind     table
// @answers  Which constants, iotas and broadcasts are written out in memory?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   rootOpcode    STRING        opcode of the root, if the instruction is a fusion
// @column   role          STRING        role of the allocation that contains the value
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @shown    value sizeBytes userFile physicalBytes attributedOpName
// @measure  assigned, physical
// @note     A fusion counts by its root, which is known only from the module text.
// @empty    no constant, iota or broadcast is written out in memory
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)<-[:DEFINES]-(i:Instruction)
WHERE v.opcode IN ['constant', 'iota', 'broadcast', 'fusion'] AND v.sizeBytes > 0
      AND (v.opcode <> 'fusion' OR i.rootOpcode IN ['constant', 'iota', 'broadcast'])
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       i.rootOpcode AS rootOpcode, a.role AS role,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
LIMIT $limit
