// Keys of the compilations of a run, the most reserved bytes first
MATCH (r:Run {key: $run})-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation, coalesce(c.reservedBytes, 0) AS reservedBytes
ORDER BY reservedBytes DESC, compilation
