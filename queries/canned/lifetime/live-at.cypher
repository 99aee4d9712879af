// Values that are live at a step
// @kind     table
// @answers  What is live while this instruction runs?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    instruction STRING = ''   instruction name
// @param    step        INTEGER = -1  step in the schedule; -1 for none
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        name of the value, with its tuple index
// @column   memorySpace INTEGER       memory space of the allocation
// @column   allocation  INTEGER       number of the allocation that contains the value
// @column   offsetBytes INTEGER       offset of the value in the allocation
// @column   sizeBytes   INTEGER       assigned size, including padding
// @column   role        STRING        role of the allocation that contains the value
// @column   liveFrom    INTEGER       first step of the live range
// @column   liveUntil   INTEGER       last step of the live range, inclusive
// @column   atStep      INTEGER       step at which the value is live
// @column   shape       STRING        shape, without layout
// @column   opcode      STRING        opcode of the instruction that produces the value
// @column   opName      STRING        op name of that instruction, as set by the framework
// @column   sourceFile  STRING        source file of that instruction
// @column   sourceLine  INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING        file of the innermost line outside installed packages
// @column   userLine    INTEGER       line in that file
// @column   stepLogicalBytes INTEGER    total size of all live values in memory space 0 at that
//           step, including those not in the rows; null after the last instruction
// @column   stepPhysicalBytes INTEGER   bytes of memory space 0 occupied by live values at that
//           step
// @column   memorySpaceName STRING      such as HBM or VMEM; null where XLA has none
// @shown    value sizeBytes userFile attributedOpName … memorySpace allocation offsetBytes
//           stepLogicalBytes stepPhysicalBytes memorySpaceName
// @measure  assigned, logical, physical
// @note     All memory spaces are included. By default the step is that of the physical peak of
//           memory space 0. A given step overrides an instruction.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
OPTIONAL MATCH (c)-[:SCHEDULES]->(i:Instruction)
WITH c, min(CASE WHEN i.name = $instruction THEN i.step ELSE null END) AS namedStep
WITH CASE WHEN $step >= 0 THEN $step WHEN $instruction <> '' THEN namedStep
          ELSE c.physicalPeakStep END AS atStep
OPTIONAL MATCH (:Compilation {key: $compilation})-[:SCHEDULES]->(t:Instruction)
WITH atStep, max(CASE WHEN t.step = atStep THEN t.logicalBytes ELSE null END) AS stepLogicalBytes,
     max(CASE WHEN t.step = atStep THEN t.physicalBytes ELSE null END) AS stepPhysicalBytes
// match by key again: from c the embedded engine would read every value of the graph
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
WHERE v.liveFrom <= atStep AND atStep <= v.liveUntil
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
// match by key again: before the limit the embedded engine would read the texts of every value
WITH v.key AS valueKey, a.memorySpace AS memorySpace, a.number AS allocation, a.role AS role,
     h.offsetBytes AS offsetBytes, s.name AS memorySpaceName, atStep, stepLogicalBytes,
     stepPhysicalBytes
ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
MATCH (v:Value {key: valueKey})
RETURN v.label AS value, memorySpace, allocation, offsetBytes, v.sizeBytes AS sizeBytes, role,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, atStep,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       stepLogicalBytes, stepPhysicalBytes, memorySpaceName
ORDER BY sizeBytes DESC, value
