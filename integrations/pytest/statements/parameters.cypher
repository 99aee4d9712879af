MATCH (:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value {opcode: 'parameter'})
WHERE a.parameterNumber IS NOT NULL AND v.opName IS NOT NULL
RETURN v.opName AS name, v.label AS label, v.sizeBytes AS sizeBytes
ORDER BY a.parameterNumber, label
