// Runs with a compilation of a module
MATCH (m:Module {name: $module})<-[:OF_MODULE]-(c:Compilation)<-[:COMPILED]-(r:Run)
WHERE c.state = 'complete'
RETURN DISTINCT r.name AS run
ORDER BY run
