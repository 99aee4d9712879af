// The key of a compilation, if there is one with that key
MATCH (c:Compilation {key: $compilation}) WHERE c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation
