// Inputs and outputs, and temporaries, of GPU programs in memory space 0
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})
WHERE c.state = 'complete' AND c.platform IN ['gpu', 'rocm']
MATCH (c)-[:ALLOCATES]->(a:Allocation)
WHERE a.memorySpace = 0 AND a.role IN ['parameter', 'output', 'liveOut', 'temp']
RETURN c.key AS compilation,
       sum(CASE WHEN a.role = 'temp' THEN 0 ELSE a.sizeBytes END) AS passedBytes,
       sum(CASE WHEN a.role = 'temp' THEN a.sizeBytes ELSE 0 END) AS tempBytes
ORDER BY compilation
