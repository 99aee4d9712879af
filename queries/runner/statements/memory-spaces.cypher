// Numbers of the memory spaces of all compilations
MATCH (c:Compilation {state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN DISTINCT s.color AS memorySpace
ORDER BY memorySpace
