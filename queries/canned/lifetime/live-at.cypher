// Values that are live at a step
// @kind     table
// @answers  What is live while this instruction runs?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    instruction STRING = ''   name of an instruction
// @param    step        INTEGER = -1  step of the schedule; -1 for none
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   memorySpace INTEGER       number of the memory space of the allocation
// @column   allocation  INTEGER       number of the allocation that holds it
// @column   offsetBytes INTEGER       where it begins in the allocation
// @column   sizeBytes   INTEGER       assigned size, padding included
// @column   role        STRING        role of the allocation that holds it
// @column   liveFrom    INTEGER       first step in which it is needed
// @column   liveUntil   INTEGER       last step in which it is needed, inclusive
// @column   atStep      INTEGER       the step at which it is live
// @column   shape       STRING        shape, without layout
// @column   opcode      STRING        opcode of the instruction that makes it
// @column   opName      STRING        op name of that instruction, as the framework set it
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile    STRING        file of the innermost line outside of installed packages
// @column   userLine    INTEGER       that line
// @column   stepLogicalBytes INTEGER    sizes of all that is live in memory space 0 then, not of the
//           rows alone; null past the last instruction
// @column   stepPhysicalBytes INTEGER   bytes of memory space 0 that hold a live value then
// @column   memorySpaceName STRING      HBM, VMEM or SMEM of a TPU, host on any device; else null
// @measure  assigned, logical, physical
// @note     Of all memory spaces. Given neither, the step is that of the physical peak of
//           memory space 0. A step wins over an instruction.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
OPTIONAL MATCH (c)-[:SCHEDULES]->(i:Instruction)
WITH c, min(CASE WHEN i.name = $instruction THEN i.step ELSE null END) AS namedStep
WITH CASE WHEN $step >= 0 THEN $step WHEN $instruction <> '' THEN namedStep
          ELSE c.physicalPeakStep END AS atStep
OPTIONAL MATCH (:Compilation {key: $compilation})-[:SCHEDULES]->(t:Instruction)
WITH atStep, max(CASE WHEN t.step = atStep THEN t.logicalBytes ELSE null END) AS stepLogicalBytes,
     max(CASE WHEN t.step = atStep THEN t.physicalBytes ELSE null END) AS stepPhysicalBytes
// by key again: from c the embedded engine would read every value of the graph
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
WHERE v.liveFrom <= atStep AND atStep <= v.liveUntil
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
RETURN v.label AS value, a.memorySpace AS memorySpace, a.number AS allocation,
       h.offsetBytes AS offsetBytes, v.sizeBytes AS sizeBytes, a.role AS role,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, atStep,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       stepLogicalBytes, stepPhysicalBytes, s.name AS memorySpaceName
ORDER BY sizeBytes DESC, value
LIMIT $limit
