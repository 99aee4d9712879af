// Allocations of compilations, with the values that they contain
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation) // otherwise one engine reads whole tables
WITH c, a
WHERE a.sizeBytes > 0 AND (a.role IS NULL OR a.role <> 'threadLocal')
OPTIONAL MATCH (a)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
OPTIONAL MATCH (v)-[:APPEARS_AT]->(root:Instruction) WHERE root.name = c.result
WITH DISTINCT c, a, v, p, i, root.name IS NOT NULL AS isResult
RETURN c.key AS compilation, c.physicalPeakBytes IS NOT NULL AS isPeakKnown,
       a.number AS allocation, a.role AS role, a.sizeBytes AS allocationBytes,
       a.physicalPeakBytes AS fullestBytes, a.maybeLiveOut AS maybeLiveOut,
       a.donation AS donation, v.valueId AS valueId, v.name AS name, v.shapeIndex AS shapeIndex,
       v.opcode AS opcode, v.attributedOpName AS opName,
       v.userFile AS userFile, v.userLine AS userLine, v.attributedFile AS sourceFile,
       v.attributedLine AS sourceLine, v.shape AS shape, v.dtype AS dtype,
       v.sizeBytes AS sizeBytes, v.liveFrom AS liveFrom, p.physicalBytes AS peakBytes,
       i.target AS target, isResult, i.sharding AS sharding, c.partitions AS partitions,
       v.stackTurns AS stackTurns, v.stackLoop AS stackLoop, i.loop AS loop,
       c.platform AS platform, a.memorySpace AS memorySpace
ORDER BY compilation, allocation, valueId
