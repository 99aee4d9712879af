// Allocations of a compilation by what they are for
// @kind     table
// @answers  Where do the bytes go: parameters, outputs, temporaries, constants?
// @param    compilation     STRING   key of a compilation, or a unique part of it
// @column   memorySpace     INTEGER  number of the memory space of the allocation
// @column   role            STRING   parameter, output, temp, constant, threadLocal or liveOut
// @column   allocations     INTEGER  how many allocations
// @column   allocationBytes INTEGER  sum of the allocations, thread-local ones included
// @column   memorySpaceName STRING   HBM, VMEM or SMEM of a TPU, host on any device; else null
// @measure  allocation
// @note     A donated parameter is a parameter, though the result lies in it.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
RETURN a.memorySpace AS memorySpace, a.role AS role, count(a) AS allocations,
       sum(a.sizeBytes) AS allocationBytes, s.name AS memorySpaceName
ORDER BY memorySpace, allocationBytes DESC, role
