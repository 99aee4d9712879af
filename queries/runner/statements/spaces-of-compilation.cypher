// Memory spaces of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN s.color AS memorySpace
ORDER BY memorySpace
