// Shares of the physical peaks of compilations, value by value, the largest first
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:USES_SPACE]->(m:MemorySpace)<-[l:LIVE_AT_PEAK]-(v:Value) // else one engine reads whole tables
WITH c, m, l, v WHERE m.color = 0 AND l.physicalBytes > 0
RETURN c.key AS compilation, v.label AS value, v.opName AS opName, v.opcode AS opcode,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine, v.shape AS shape,
       l.physicalBytes AS bytes
ORDER BY bytes DESC, compilation, value
LIMIT $limit
