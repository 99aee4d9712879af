// Bytes of the allocations of compilations, by role
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation) // else one engine reads whole tables
WITH a WHERE a.sizeBytes IS NOT NULL
RETURN a.role AS role, sum(a.sizeBytes) AS allocationBytes
ORDER BY role
