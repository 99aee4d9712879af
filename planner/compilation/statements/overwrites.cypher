// Values that XLA may write over an operand, with that operand
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (a)-[:HOLDS]->(v:Value)
MATCH (v)-[m:MAY_OVERWRITE]->(w:Value)
RETURN v.valueId AS valueId, w.valueId AS overwritten, m.operand AS operand,
       m.isOperand AS isOperand, m.isLastPosition AS isLastPosition
ORDER BY valueId, operand, overwritten
