// Live bytes at every step of the schedule
// @kind     series
// @answers  How does memory rise and fall along the schedule?
// @param    compilation   STRING             key of a compilation, or a unique part of it
// @param    limit         INTEGER = 1000000  steps to return
// @column   step          INTEGER            place in the schedule, from 0
// @column   instruction   STRING             name of the instruction
// @column   opcode        STRING             its opcode
// @column   logicalBytes  INTEGER            sizes of the values live while it runs
// @column   physicalBytes INTEGER            bytes that hold a live value while it runs
// @measure  logical, physical
// @note     Of memory space 0.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[o:SCHEDULES]->(i:Instruction)
RETURN o.step AS step, i.name AS instruction, i.opcode AS opcode,
       i.logicalBytes AS logicalBytes, i.physicalBytes AS physicalBytes
ORDER BY step
LIMIT $limit
