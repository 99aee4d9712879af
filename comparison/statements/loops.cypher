// How often the bodies of loops run, where XLA knows it
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:SCHEDULES]->(i:Instruction)
WHERE c.state = 'complete' AND i.turns IS NOT NULL
RETURN DISTINCT c.key AS compilation, i.name AS loop, i.turns AS turns
ORDER BY compilation, loop
