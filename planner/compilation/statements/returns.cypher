// Positions of a compilation's values in its result, made by the instruction $result, and in those of calls
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[p:APPEARS_AT]->(i:Instruction)
WHERE i.name = $result OR i.opcode = 'call'
RETURN v.valueId AS valueId, i.name AS instruction, p.shapeIndex AS shapeIndex,
       i.opcode AS opcode, i.computation AS computation
ORDER BY valueId, instruction, shapeIndex
