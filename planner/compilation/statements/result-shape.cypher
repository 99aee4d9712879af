// Shape of what a compiled program returns
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE i.name = c.result
RETURN i.shape AS shape
