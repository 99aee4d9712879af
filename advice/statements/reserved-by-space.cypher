// Reserved bytes of compilations in each memory space
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})
MATCH (r:Run)-[:COMPILED]->(c) WHERE c.state = 'complete'
MATCH (c)-[:USES_SPACE]->(m:MemorySpace)
RETURN r.name AS run, c.key AS compilation, m.color AS memorySpace,
       m.name AS memorySpaceName, m.reservedBytes AS reservedBytes
ORDER BY compilation, memorySpace
