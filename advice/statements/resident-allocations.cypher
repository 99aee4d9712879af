// Allocations of compilations by memory space, role, shape, size, and name of the argument
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:USES_SPACE]->(m:MemorySpace)
WHERE c.state = 'complete'
MATCH (c)-[:ALLOCATES]->(a:Allocation)
WHERE a.memorySpace = m.color AND coalesce(a.role, '') <> 'threadLocal'
OPTIONAL MATCH (a)-[:HOLDS]->(v:Value)
WHERE v.opcode = 'parameter' AND a.role = 'parameter'
WITH c, m, a, min(coalesce(v.opName, v.label, '')) AS argument
RETURN c.key AS compilation, m.color AS memorySpace, m.name AS memorySpaceName,
       a.role AS role, a.shape AS shape, a.sizeBytes AS sizeBytes, count(a) AS allocations,
       argument, c.run AS run
ORDER BY compilation, memorySpace, role, shape, sizeBytes, argument
