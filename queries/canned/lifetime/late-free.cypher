// Values that are kept beyond their last use
// @kind     table
// @answers  What keeps this buffer alive after its last use?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   liveFrom      INTEGER       first step of the live range
// @column   lastUse       INTEGER       step of the last user
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   idleSteps     INTEGER       steps from the last use to the end of the live range
// @column   keptUntil     STRING        instruction at which the live range ends
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @shown    value sizeBytes keptUntil userFile physicalBytes attributedOpName
// @measure  assigned, physical
// @note     Excluded are values that are live to the program's end, values without a user in
//           the schedule, and loop state that is passed to the next iteration.
// @empty    no value is kept beyond its last use, except those that are live to the end of the
//           program
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE v.lastUse < v.liveUntil AND v.liveUntil < c.scheduleLength
OPTIONAL MATCH (v)<-[:UPDATES_IN_PLACE]-(n:Value)
WITH v, sum(CASE WHEN n.isPhi THEN 1 ELSE 0 END) AS nextStates
WHERE nextStates = 0
OPTIONAL MATCH (v)-[:LIVE_UNTIL]->(i:Instruction)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.liveFrom AS liveFrom, v.lastUse AS lastUse, v.liveUntil AS liveUntil,
       v.liveUntil - v.lastUse AS idleSteps, i.name AS keptUntil,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, idleSteps DESC, value
LIMIT $limit
