// Reserved bytes and peaks of compilations in a memory space, sorted by reserved bytes, descending
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
WHERE c.state = 'complete'
RETURN c.key AS compilation, s.reservedBytes AS reservedBytes, s.physicalPeakBytes AS peakBytes,
       s.name AS memorySpaceName
ORDER BY reservedBytes DESC, compilation
