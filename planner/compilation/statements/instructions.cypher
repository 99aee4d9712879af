// Instructions of a compilation that are scheduled, or make, use or name a value
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
RETURN DISTINCT i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.logicalBytes AS logicalBytes, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
UNION
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v) WHERE i.step IS NULL
RETURN DISTINCT i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.logicalBytes AS logicalBytes, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
UNION
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:USED_BY|APPEARS_AT]->(i:Instruction) WHERE i.step IS NULL
RETURN DISTINCT i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.logicalBytes AS logicalBytes, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
ORDER BY name
