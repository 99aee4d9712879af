// Allocations of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
RETURN a.number AS number, a.sizeBytes AS sizeBytes, a.role AS role,
       a.memorySpace AS memorySpace, a.parameterNumber AS parameterNumber,
       a.shapeIndex AS shapeIndex, a.shape AS shape, a.maybeLiveOut AS maybeLiveOut,
       a.physicalPeakBytes AS physicalPeakBytes, a.largestHoleBytes AS largestHoleBytes,
       a.page AS page
ORDER BY number
