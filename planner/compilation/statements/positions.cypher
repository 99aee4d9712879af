// Names of a compilation's values
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[p:APPEARS_AT]->(i:Instruction)
RETURN v.valueId AS valueId, i.name AS instruction, p.shapeIndex AS shapeIndex
ORDER BY valueId, instruction, shapeIndex
