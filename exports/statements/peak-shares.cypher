// Values that hold bytes at the physical peak of each memory space of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE p.physicalBytes > 0
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN s.color AS color, s.name AS spaceName, v.valueId AS valueId, v.opcode AS opcode,
       v.attributedOpName AS opName, v.attributedFile AS sourceFile,
       v.attributedLine AS sourceLine, f.key AS frame, v.category AS category,
       p.physicalBytes AS physicalBytes
ORDER BY color, valueId
