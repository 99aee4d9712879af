// Values of compilations, counted by all that is known of them in another compilation
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value) // else one engine reads whole tables
WITH a, v
WHERE a.memorySpace = 0 AND coalesce(a.role, '') <> 'threadLocal' AND v.sizeBytes > 0
RETURN v.opName AS opName, v.opcode AS opcode, v.shapeIndex AS shapeIndex,
       v.shape AS shape, v.dtype AS dtype, v.sizeBytes AS sizeBytes, count(v) AS values
ORDER BY opName, opcode, shapeIndex, shape, dtype, sizeBytes
