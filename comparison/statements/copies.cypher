// Number of copies of compilations, as the query alias/copies lists them
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)<-[:DEFINES]-(:Instruction)
WHERE c.state = 'complete'
      AND (v.opcode = 'copy' OR (v.opcode = 'copy-start' AND v.shapeIndex = '{0}'))
RETURN c.key AS compilation, count(DISTINCT v.key) AS copies
ORDER BY compilation
