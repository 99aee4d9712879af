// Values of a compilation with the slot that each has
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
RETURN v.valueId AS valueId, v.label AS label, v.name AS name, v.shapeIndex AS shapeIndex,
       v.shape AS shape, v.dtype AS dtype, v.sizeBytes AS sizeBytes,
       v.denseBytes AS denseBytes, v.memorySpace AS memorySpace, a.number AS allocation,
       h.offsetBytes AS offsetBytes, v.liveFrom AS liveFrom, v.liveUntil AS liveUntil,
       v.aliasSet AS aliasSet, v.aliasPosition AS aliasPosition, v.opcode AS opcode,
       v.attributedOpName AS opName, v.attributedFile AS sourceFile,
       v.attributedLine AS sourceLine
ORDER BY valueId
