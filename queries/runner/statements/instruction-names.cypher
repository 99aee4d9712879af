// Names of scheduled instructions that contain $part, the exact match first
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE $part = '' OR i.name CONTAINS $part
RETURN i.name AS name, i.name = $part AS isWhole
ORDER BY isWhole DESC, name
LIMIT 1000
