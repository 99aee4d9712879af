// One compilation, with its run
MATCH (r:Run)-[:COMPILED]->(c:Compilation {key: $compilation}) WHERE c.state = 'complete'
RETURN r.key AS run, c.key AS compilation
ORDER BY compilation
