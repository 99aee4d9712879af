// Instructions of a compilation that are scheduled, or make, use or name a value; some several times, in any order
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
UNION ALL
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v) WHERE i.step IS NULL
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
UNION ALL
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:USED_BY|APPEARS_AT]->(i:Instruction) WHERE i.step IS NULL
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName,
       i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, i.step AS step,
       i.computation AS computation, i.postOrder AS postOrder, i.shape AS shape,
       i.target AS target, i.physicalBytes AS physicalBytes,
       i.loop AS loop, i.fusedOpcodes AS fusedOpcodes
