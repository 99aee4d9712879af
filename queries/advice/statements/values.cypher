// The values of a compilation: slot, live range, set, and whose they are
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (a)-[h:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v)
RETURN v.valueId AS valueId, v.label AS label, v.name AS name, v.shape AS shape,
       v.layout AS layout, v.dtype AS dtype, v.sizeBytes AS sizeBytes,
       v.memorySpace AS memorySpace, v.bufferSet AS bufferSet, v.liveFrom AS liveFrom,
       v.liveUntil AS liveUntil, v.lastUse AS lastUse, v.neededUntil AS neededUntil,
       v.opcode AS opcode, v.opName AS opName, v.attributedOpName AS attributedOpName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedFile AS attributedFile, v.attributedLine AS attributedLine,
       v.userFile AS userFile, v.userLine AS userLine, v.shapeIndex AS shapeIndex,
       i.postOrder AS postOrder, i.computation AS computation,
       a.number AS allocation, h.offsetBytes AS offsetBytes
ORDER BY valueId
