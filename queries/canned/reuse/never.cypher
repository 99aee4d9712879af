// Temporaries that do not share their bytes with another value
// @kind     table
// @answers  Which large temporaries never share their bytes?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   allocation    INTEGER       number of the allocation that contains the value
// @column   offsetBytes   INTEGER       offset of the value in the allocation
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   liveFrom      INTEGER       first step of the live range
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   steps         INTEGER       length of the live range in steps, both ends included
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @shown    value sizeBytes userFile physicalBytes attributedOpName … allocation offsetBytes
// @measure  assigned, physical
// @note     Temporaries are the values of allocations with the role temp, with a live range and
//           a size above 0.
// @empty    every temporary shares its bytes with another one
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
WHERE a.role = 'temp' AND v.liveFrom IS NOT NULL AND v.sizeBytes > 0
OPTIONAL MATCH (v)-[:UPDATES_IN_PLACE|REUSES]-(w:Value)
WITH a, h, v, count(w) AS sharers
WHERE sharers = 0
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, a.number AS allocation, h.offsetBytes AS offsetBytes,
       v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil,
       v.liveUntil - v.liveFrom + 1 AS steps,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
LIMIT $limit
