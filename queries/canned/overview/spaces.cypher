// Memory spaces of a compilation and how full they are
// @kind     table
// @answers  How full is each memory space, and is any of it wasted?
// @param    compilation       STRING   key of a compilation, or a unique part of it
// @column   memorySpace       INTEGER  memory space number
// @column   name              STRING   such as HBM or VMEM; null where XLA has none
// @column   allocationBytes   INTEGER  total size of the allocations in the space, including
//           thread-local ones
// @column   reservedBytes     INTEGER  total size of the allocations in the space, without
//           thread-local ones
// @column   logicalPeakBytes  INTEGER  largest total size of live values in the space
// @column   logicalPeakStep   INTEGER  first step at which logicalPeakBytes is reached
// @column   physicalPeakBytes INTEGER  largest number of bytes of the memory space occupied by live
//           values
// @column   physicalPeakStep  INTEGER  first step at which physicalPeakBytes is reached
// @column   idleBytes         INTEGER  reserved bytes that contain no live value at the physical
//           peak
// @shown    … allocationBytes logicalPeakBytes
// @measure  allocation, reserved, logical, physical
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
RETURN s.color AS memorySpace, s.name AS name, s.allocationBytes AS allocationBytes,
       s.reservedBytes AS reservedBytes, s.logicalPeakBytes AS logicalPeakBytes,
       s.logicalPeakStep AS logicalPeakStep, s.physicalPeakBytes AS physicalPeakBytes,
       s.physicalPeakStep AS physicalPeakStep,
       s.reservedBytes - s.physicalPeakBytes AS idleBytes
ORDER BY memorySpace
