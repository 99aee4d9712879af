// Values that are kept beyond their last use
// @kind     table
// @answers  Who keeps this buffer alive after its last use?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak; null where it is not
//           live then
// @column   liveFrom      INTEGER       first step in which it is needed
// @column   lastUse       INTEGER       largest step among its users
// @column   liveUntil     INTEGER       last step in which it is needed, inclusive
// @column   idleSteps     INTEGER       from the last use to the end
// @column   keptUntil     STRING        the instruction at which it ends
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @measure  assigned, physical
// @note     What lives to the end of the program is left out, and what nothing in the schedule
//           uses; so is the state of a loop that is handed on to the next iteration.
// @empty    no value is kept beyond its last use, but for what lives to the end of the program
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
