// In-place updates among the values of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(later:Value)
MATCH (later)-[u:UPDATES_IN_PLACE]->(earlier:Value)
RETURN later.valueId AS laterId, earlier.valueId AS earlierId, u.sharedBytes AS sharedBytes,
       u.step AS steps
ORDER BY laterId, earlierId
