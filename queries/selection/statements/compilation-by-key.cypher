// The key of a compilation, if there is one with that key
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.key AS compilation
ORDER BY compilation
