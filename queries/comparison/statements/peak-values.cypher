// Physical shares of the peak of compilations, by all that a grouping may ask of a value
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:USES_SPACE]->(m:MemorySpace)<-[l:LIVE_AT_PEAK]-(v:Value) // else one engine reads whole tables
WITH m, l, v WHERE m.color = 0 AND l.physicalBytes > 0
RETURN v.opName AS opName, v.opcode AS opcode, v.sourceFile AS sourceFile,
       v.sourceLine AS sourceLine, v.shape AS shape, sum(l.physicalBytes) AS peakBytes
ORDER BY opName, opcode, sourceFile, sourceLine, shape
