// Scheduled instructions of a compilation, and what each depends on, in any order
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
RETURN i.name AS name, i.step AS step, i.opcode AS opcode, i.shape AS shape,
       i.computation AS computation, i.operands AS operands,
       i.controlPredecessors AS controlPredecessors, i.callees AS callees,
       i.isRoot AS isRoot, i.uniqueId AS uniqueId
