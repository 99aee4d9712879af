// Instructions that are in the schedule of a compilation, or make a value
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
RETURN i.name AS name, i.opcode AS opcode, i.shape AS shape, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.computation AS computation,
       i.target AS target, i.step AS step, i.logicalBytes AS logicalBytes,
       i.physicalBytes AS physicalBytes
UNION
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v)
RETURN i.name AS name, i.opcode AS opcode, i.shape AS shape, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.computation AS computation,
       i.target AS target, i.step AS step, i.logicalBytes AS logicalBytes,
       i.physicalBytes AS physicalBytes
ORDER BY name
