// One compilation, with its run
MATCH (c:Compilation {key: $compilation})<-[:COMPILED]-(r:Run)
WHERE c.state = 'complete'
RETURN r.key AS run, c.key AS compilation
ORDER BY compilation
