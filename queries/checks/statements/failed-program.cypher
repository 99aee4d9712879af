// What tells which compilation an error message is about
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation) WHERE a.role = 'temp'
WITH c, coalesce(sum(a.sizeBytes), 0) AS tempBytes
OPTIONAL MATCH (c)-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
    WHERE v.name IN $instructions OR v.opName IN $opNames
WITH c, tempBytes, count(v) AS foundValues
RETURN c.key AS compilation, c.moduleName AS moduleName, c.reservedBytes AS reservedBytes,
       tempBytes, foundValues
ORDER BY compilation
