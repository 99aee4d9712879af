// The innermost frame that each value of a compilation belongs to
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN v.valueId AS valueId, f.key AS frame
ORDER BY valueId
