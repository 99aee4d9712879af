// Values of a compilation that reuse bytes of others, in place first
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(later:Value)
MATCH (later)-[r:UPDATES_IN_PLACE|REUSES]->(earlier:Value)
RETURN later.valueId AS laterId, earlier.valueId AS earlierId, r.step IS NOT NULL AS inPlace,
       r.sharedBytes AS sharedBytes, coalesce(r.step, r.gapSteps) AS steps
ORDER BY inPlace DESC, laterId, earlierId
