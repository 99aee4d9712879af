// Allocations of compilations by memory space, role, shape and size
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:USES_SPACE]->(m:MemorySpace)
WHERE c.state = 'complete'
MATCH (c)-[:ALLOCATES]->(a:Allocation)
WHERE a.memorySpace = m.color AND coalesce(a.role, '') <> 'threadLocal'
RETURN c.key AS compilation, m.color AS memorySpace, m.name AS memorySpaceName,
       a.role AS role, a.shape AS shape, a.sizeBytes AS sizeBytes, count(a) AS allocations
ORDER BY compilation, memorySpace, role, shape, sizeBytes
