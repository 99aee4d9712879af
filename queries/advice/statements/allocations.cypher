// Allocations of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
RETURN a.number AS number, a.sizeBytes AS sizeBytes, a.memorySpace AS memorySpace,
       a.role AS role, a.maybeLiveOut AS maybeLiveOut, a.parameterNumber AS parameterNumber,
       a.shapeIndex AS shapeIndex, s.name AS memorySpaceName
ORDER BY number
