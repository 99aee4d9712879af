// Compilations of a run
MATCH (r:Run {key: $run})-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
RETURN r.key AS run, c.key AS compilation
ORDER BY compilation
