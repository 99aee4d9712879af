// Totals of compilations to compare, and the names that pair them
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
RETURN c.key AS compilation, m.name AS module, c.moduleId AS moduleNumber,
       c.reservedBytes AS reservedBytes, c.logicalPeakBytes AS logicalPeakBytes,
       c.physicalPeakBytes AS physicalPeakBytes, c.allocationBytes AS allocationBytes
ORDER BY compilation
