// Numbers of the memory spaces that at least one compilation uses
MATCH (c:Compilation {state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN DISTINCT s.color AS memorySpace
ORDER BY memorySpace
