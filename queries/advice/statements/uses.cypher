// Which instruction reads which value
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (a)-[:HOLDS]->(v:Value)
MATCH (v)-[u:USED_BY]->(i:Instruction)
RETURN i.name AS instruction, u.operand AS operand, u.operandIndex AS operandIndex,
       v.valueId AS valueId
ORDER BY instruction, operand, operandIndex, valueId
