// Key of a compilation, if it exists
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.key AS compilation
ORDER BY compilation
