// Values that appear at an instruction, no matter which instruction defines them
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[p:APPEARS_AT]->(i:Instruction) WHERE i.name = $instruction
RETURN v.key AS value, p.shapeIndex AS shapeIndex
ORDER BY shapeIndex, value
