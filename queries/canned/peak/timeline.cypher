// Live bytes at every step of the schedule
// @kind     series
// @answers  How does memory rise and fall along the schedule?
// @param    compilation   STRING             key of a compilation, or a unique part of it
// @param    limit         INTEGER = 1000000  steps to return
// @column   step          INTEGER            step in the schedule, from 0
// @column   instruction   STRING             name of the instruction
// @column   opcode        STRING             opcode of the instruction
// @column   logicalBytes  INTEGER            total size of the values live during the step
// @column   physicalBytes INTEGER            bytes occupied by live values during the step
// @measure  logical, physical
// @note     The timeline is that of memory space 0.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[o:SCHEDULES]->(i:Instruction)
RETURN o.step AS step, i.name AS instruction, i.opcode AS opcode,
       i.logicalBytes AS logicalBytes, i.physicalBytes AS physicalBytes
ORDER BY step
LIMIT $limit
