// Memory spaces of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN s.color AS color, s.name AS name
ORDER BY color
