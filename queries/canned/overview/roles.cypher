// Allocations of a compilation by role
// @kind     table
// @answers  Where do the bytes go: parameters, outputs, temporaries, constants?
// @param    compilation     STRING   key of a compilation, or a unique part of it
// @column   memorySpace     INTEGER  memory space of the allocation
// @column   role            STRING   parameter, output, temp, constant, threadLocal or liveOut
// @column   allocations     INTEGER  number of allocations
// @column   allocationBytes INTEGER  total size of the allocations, including thread-local ones
// @column   memorySpaceName STRING   such as HBM or VMEM; null where XLA has none
// @shown    … allocationBytes memorySpaceName
// @measure  allocation
// @note     A donated parameter counts as a parameter, although it contains the result.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
RETURN a.memorySpace AS memorySpace, a.role AS role, count(a) AS allocations,
       sum(a.sizeBytes) AS allocationBytes, s.name AS memorySpaceName
ORDER BY memorySpace, allocationBytes DESC, role
