// Instructions that are in the schedule of a compilation, or make, use or name a value
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName, i.sourceFile AS sourceFile,
       i.sourceLine AS sourceLine, i.step AS step
UNION
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v)
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName, i.sourceFile AS sourceFile,
       i.sourceLine AS sourceLine, i.step AS step
UNION
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:USED_BY|APPEARS_AT]->(i:Instruction)
RETURN i.name AS name, i.opcode AS opcode, i.opName AS opName, i.sourceFile AS sourceFile,
       i.sourceLine AS sourceLine, i.step AS step
ORDER BY name
