// Instructions that use a value, in the schedule's order, with the user's line of each
MATCH (v:Value {key: $value})-[u:USED_BY]->(i:Instruction)
OPTIONAL MATCH (i)-[:DEFINES]->(m:Value)
WITH u, i, min(m.userFile) AS file, min(m.userLine) AS line
RETURN i.name AS instruction, u.operand AS operand, u.operandIndex AS operandIndex,
       i.opcode AS opcode, i.opName AS opName, i.step AS step,
       coalesce(file, i.sourceFile) AS file,
       CASE WHEN file IS NULL THEN i.sourceLine ELSE line END AS line
ORDER BY step, instruction, operand, operandIndex
