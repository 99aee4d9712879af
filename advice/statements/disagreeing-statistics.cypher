// Numbers of JAX's memory analysis that differ from the allocations
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:STATES]->(s:MemoryStatistic)
WHERE c.state = 'complete' AND s.agrees = false
RETURN c.key AS compilation, s.field AS field, s.statedBytes AS statedBytes,
       s.allocationBytes AS allocationBytes
ORDER BY compilation, field
