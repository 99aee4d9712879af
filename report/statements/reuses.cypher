// Reuses of bytes among the values of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(later:Value)
MATCH (later)-[r:REUSES]->(earlier:Value)
RETURN later.valueId AS laterId, earlier.valueId AS earlierId, r.sharedBytes AS sharedBytes,
       r.gapSteps AS steps
ORDER BY laterId, earlierId
