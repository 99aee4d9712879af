// Allocations of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
RETURN a.number AS number, a.sizeBytes AS sizeBytes, a.role AS role,
       a.memorySpace AS memorySpace, a.parameterNumber AS parameterNumber,
       a.shapeIndex AS shapeIndex, a.maybeLiveOut AS maybeLiveOut
ORDER BY number
