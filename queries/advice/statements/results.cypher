// The values that a compilation returns, and where
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE i.name = c.result
MATCH (v:Value)-[p:APPEARS_AT]->(i)
RETURN p.shapeIndex AS shapeIndex, v.valueId AS valueId
ORDER BY shapeIndex, valueId
