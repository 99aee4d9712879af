// Positions of a value: all of its names
MATCH (v:Value {key: $value})-[p:APPEARS_AT]->(i:Instruction)
RETURN i.name AS name, p.shapeIndex AS shapeIndex, i.opcode AS opcode, i.step AS step
ORDER BY step, name, shapeIndex
