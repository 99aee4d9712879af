// Totals of a compilation in memory space 0, and its largest allocation there
MATCH (c:Compilation {key: $compilation}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation {memorySpace: 0})
WHERE a.role IS NULL OR a.role <> 'threadLocal'
RETURN c.reservedBytes AS reservedBytes, c.physicalPeakBytes AS peakBytes,
       max(a.sizeBytes) AS largestBlockBytes
ORDER BY reservedBytes, peakBytes
