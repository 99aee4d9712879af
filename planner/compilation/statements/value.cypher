// One value with its producer, its allocation, its memory space and the end of its live range
MATCH (v:Value {key: $value})<-[:HOLDS]-(a:Allocation)<-[:ALLOCATES]-(c:Compilation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
OPTIONAL MATCH (i)-[:IN_FRAME]->(f:Frame)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(g:Frame)
OPTIONAL MATCH (v)-[:LIVE_UNTIL]->(e:Instruction)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.key AS key, v AS valueNode, a AS allocationNode, s AS spaceNode, i AS maker,
       e AS endsAt, c.scheduleLength AS scheduleLength, f.key AS frame, g.key AS attributedFrame,
       p.physicalBytes AS physicalBytes
ORDER BY key
