// Instructions that use a value, in the order of the schedule
MATCH (v:Value {key: $value})-[u:USED_BY]->(i:Instruction)
RETURN i.name AS instruction, u.operand AS operand, u.operandIndex AS operandIndex,
       i.opcode AS opcode, i.opName AS opName, i.step AS step
ORDER BY step, instruction, operand, operandIndex
