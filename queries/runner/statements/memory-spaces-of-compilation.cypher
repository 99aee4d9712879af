// Numbers of the memory spaces that a compilation uses
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN DISTINCT s.color AS memorySpace
ORDER BY memorySpace
