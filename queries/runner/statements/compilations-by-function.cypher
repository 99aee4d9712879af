// Keys of a function's compilations in a run; JAX writes jit_f or pmap_f for f
MATCH (r:Run {name: $run})-[:COMPILED]->(c:Compilation)-[:OF_MODULE]->(m:Module)
WHERE c.state = 'complete' AND (m.name = $function OR m.name ENDS WITH $suffix)
RETURN c.key AS compilation
ORDER BY compilation
