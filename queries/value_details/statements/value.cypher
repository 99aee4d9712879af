// Properties of one value, of what made it and of what holds it
MATCH (v:Value {key: $value})<-[h:HOLDS]-(a:Allocation)<-[:ALLOCATES]-(c:Compilation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
OPTIONAL MATCH (v)-[:LIVE_UNTIL]->(e:Instruction)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.shape AS shape, v.layout AS layout, v.dtype AS dtype,
       v.sizeBytes AS sizeBytes, v.denseBytes AS denseBytes,
       v.sizeBytes - v.denseBytes AS paddingBytes, a.memorySpace AS memorySpace,
       s.name AS memorySpaceName,
       v.isPhi AS isPhi, a.number AS allocation, a.role AS role,
       a.sizeBytes AS allocationBytes, h.offsetBytes AS offsetBytes,
       a.parameterNumber AS parameterNumber, a.maybeLiveOut AS maybeLiveOut,
       v.name AS instruction, i.key AS instructionKey, i.step AS step,
       i.computation AS computation, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine, v.attribution AS attribution,
       v.attributedOpName AS attributedOpName, v.attributedFile AS attributedFile,
       v.attributedLine AS attributedLine, v.userFile AS userFile, v.userLine AS userLine,
       v.userFunction AS userFunction,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, v.lastUse AS lastUse,
       c.scheduleLength AS scheduleLength, e.name AS endsAt, e.opcode AS endsAtOpcode,
       p.physicalBytes AS physicalBytes, s.physicalPeakBytes AS peakBytes,
       s.physicalPeakStep AS peakStep
ORDER BY value
