// Allocations of compilations, the largest first
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation) // else one engine reads whole tables
WITH c, a WHERE a.sizeBytes > 0
RETURN c.key AS compilation, a.number AS number, a.role AS role, a.shape AS shape,
       a.parameterNumber AS parameterNumber, a.sizeBytes AS bytes
ORDER BY bytes DESC, compilation, number
LIMIT $limit
