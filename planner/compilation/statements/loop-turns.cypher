// Number of times the body of a loop runs
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE i.name = $loop
RETURN DISTINCT i.turns AS turns
ORDER BY turns
