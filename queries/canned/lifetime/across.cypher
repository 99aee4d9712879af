// Values that are live across a step
// @kind     table
// @answers  What is kept across this step or instruction?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    instruction   STRING = ''   instruction name
// @param    step          INTEGER = -1  step in the schedule; -1 for none
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   role          STRING        role of the allocation that contains the value
// @column   liveFrom      INTEGER       first step of the live range
// @column   liveUntil     INTEGER       last step of the live range, inclusive
// @column   atStep        INTEGER       step across which the value is kept
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
// @note     By default the step is the backward pass's first, whose op name contains
//           "transpose(" (JAX), "gradient_tape/" or "gradients/" (TensorFlow): values live across
//           it are kept from a training step's forward to its backward pass. A given step
//           overrides an instruction.
// @note     A value that begins or ends at the step itself is not kept across it.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[o:SCHEDULES]->(i:Instruction)
WHERE ($step >= 0 AND o.step = $step)
      OR ($step < 0 AND $instruction <> '' AND i.name = $instruction)
      OR ($step < 0 AND $instruction = ''
          AND (i.opName CONTAINS 'transpose(' OR i.opName CONTAINS 'gradient_tape/'
               OR i.opName CONTAINS 'gradients/'))
WITH min(o.step) AS atStep
// match by key again: from c the embedded engine would read every value of the graph
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.liveFrom < atStep AND v.liveUntil > atStep
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v.key AS valueKey, p.physicalBytes AS physicalBytes, a.role AS role, atStep
ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
// and again: before the limit it would read the texts of every value
MATCH (v:Value {key: valueKey})
RETURN v.label AS value, v.sizeBytes AS sizeBytes, physicalBytes, role,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, atStep,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
