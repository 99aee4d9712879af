// How many values of a compilation have each fact; one counts once for each of its positions
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[p:APPEARS_AT]->(:Instruction)
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
RETURN count(v.liveFrom) AS liveRanges, count(p) AS positions,
       count(v.opcode) AS opcodes, count(v.opName) AS opNames, count(v.sourceFile) AS sourceFiles,
       count(i.rootOpcode) AS fusionRoots, sum(CASE WHEN v.opcode = 'fusion' THEN 1 ELSE 0 END)
       AS fusions
