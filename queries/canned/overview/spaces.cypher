// Memory spaces of a compilation and how full they get
// @kind     table
// @answers  How full is each memory space, and is one wasted?
// @param    compilation       STRING   key of a compilation, or a unique part of it
// @column   memorySpace       INTEGER  number of the memory space
// @column   name              STRING   HBM, VMEM or SMEM of a TPU, host on any device; else null
// @column   allocationBytes   INTEGER  sum of its allocations, thread-local ones included
// @column   reservedBytes     INTEGER  sum of its allocations, thread-local ones left out
// @column   logicalPeakBytes  INTEGER  largest sum of the sizes of its live values
// @column   logicalPeakStep   INTEGER  first step with that sum
// @column   physicalPeakBytes INTEGER  most of its bytes that hold a live value
// @column   physicalPeakStep  INTEGER  first step with that many
// @column   idleBytes         INTEGER  of its allocations, what holds nothing even at the physical
//           peak
// @measure  allocation, reserved, logical, physical
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN s.color AS memorySpace, s.name AS name, s.allocationBytes AS allocationBytes,
       s.reservedBytes AS reservedBytes, s.logicalPeakBytes AS logicalPeakBytes,
       s.logicalPeakStep AS logicalPeakStep, s.physicalPeakBytes AS physicalPeakBytes,
       s.physicalPeakStep AS physicalPeakStep,
       s.allocationBytes - s.physicalPeakBytes AS idleBytes
ORDER BY memorySpace
