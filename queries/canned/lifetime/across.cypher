// Values that are live before a step and after it
// @kind     table
// @answers  What is kept across this step or instruction?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    instruction   STRING = ''   name of an instruction
// @param    step          INTEGER = -1  step of the schedule; -1 for none
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak; null where it is not
//           live then
// @column   role          STRING        role of the allocation that holds it
// @column   liveFrom      INTEGER       first step in which it is needed
// @column   liveUntil     INTEGER       last step in which it is needed, inclusive
// @column   atStep        INTEGER       the step across which it is kept
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
// @note     Given neither, the step is the first of the backward pass, whose op name holds
//           "transpose(" (JAX), "gradient_tape/" or "gradients/" (TensorFlow): what is live across
//           it is kept from the forward to the backward pass of a training step. A step wins over
//           an instruction.
// @note     What begins or ends at the step itself is not kept across it.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[o:SCHEDULES]->(i:Instruction)
WHERE ($step >= 0 AND o.step = $step)
      OR ($step < 0 AND $instruction <> '' AND i.name = $instruction)
      OR ($step < 0 AND $instruction = ''
          AND (i.opName CONTAINS 'transpose(' OR i.opName CONTAINS 'gradient_tape/'
               OR i.opName CONTAINS 'gradients/'))
WITH min(o.step) AS atStep
// by key again: from c the embedded engine would read every value of the graph
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.liveFrom < atStep AND v.liveUntil > atStep
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       a.role AS role, v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, atStep,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
LIMIT $limit
