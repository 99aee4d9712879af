// Number of iterations of a loop
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE i.name = $loop
RETURN DISTINCT i.turns AS turns
ORDER BY turns
