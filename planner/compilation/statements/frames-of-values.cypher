// The innermost frame to which each value of a compilation is attributed
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN v.valueId AS valueId, f.key AS frame
ORDER BY valueId
