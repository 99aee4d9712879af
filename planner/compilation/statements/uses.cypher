// Uses of a compilation's values
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[u:USED_BY]->(i:Instruction)
RETURN v.valueId AS valueId, i.name AS instruction, u.operand AS operand,
       u.operandIndex AS operandIndex
ORDER BY valueId, instruction, operand, operandIndex
