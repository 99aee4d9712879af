// Names and sizes that identify the compilation of an error message
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation {role: 'temp'})
RETURN c.key AS compilation, c.moduleName AS moduleName, c.platform AS platform, c.reservedBytes AS reservedBytes,
       coalesce(sum(a.sizeBytes), 0) AS tempBytes
ORDER BY compilation
