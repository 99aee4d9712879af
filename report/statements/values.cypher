// Values of a compilation with the slot that each has
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
RETURN a.number AS allocation, h.offsetBytes AS offsetBytes, v.label AS label,
       v.valueId AS valueId, v.name AS name, v.shape AS shape, v.layout AS layout,
       v.dtype AS dtype, v.sizeBytes AS sizeBytes, v.denseBytes AS denseBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, v.lastUse AS lastUse,
       v.opcode AS opcode, v.attribution AS attribution,
       v.attributedOpName AS attributedOpName, v.attributedFile AS attributedFile,
       v.attributedLine AS attributedLine, v.userFile AS userFile, v.userLine AS userLine
ORDER BY valueId
