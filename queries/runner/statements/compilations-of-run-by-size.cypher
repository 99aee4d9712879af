// Keys of a run's compilations, sorted by reserved bytes, descending
MATCH (r:Run {key: $run})-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation, coalesce(c.reservedBytes, 0) AS reservedBytes
ORDER BY reservedBytes DESC, compilation
