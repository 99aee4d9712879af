// Memory spaces of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(m:MemorySpace)
RETURN m.color AS color, m.allocationBytes AS allocationBytes, m.reservedBytes AS reservedBytes,
       m.logicalPeakBytes AS logicalPeakBytes, m.logicalPeakStep AS logicalPeakStep,
       m.physicalPeakBytes AS physicalPeakBytes, m.physicalPeakStep AS physicalPeakStep
ORDER BY color
