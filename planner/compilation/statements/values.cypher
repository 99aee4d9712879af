// Values of a compilation: slot, live range and attribution
// The filter makes the embedded engine scan the table: lookups take three times as long
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE v.compilation = $compilation
RETURN v.key AS key, v.valueId AS valueId, v.label AS label, v.name AS name,
       v.shapeIndex AS shapeIndex, v.isPhi AS isPhi, v.shape AS shape, v.layout AS layout,
       v.dtype AS dtype, v.sizeBytes AS sizeBytes, v.denseBytes AS denseBytes,
       v.memorySpace AS memorySpace, v.allocation AS allocation, v.offsetBytes AS offsetBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, v.lastUse AS lastUse,
       v.rangeEnd AS rangeEnd, v.aliasSet AS aliasSet,
       v.aliasPosition AS aliasPosition, v.bufferSet AS bufferSet,
       v.neededUntil AS neededUntil, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine, v.attribution AS attribution,
       v.attributedOpName AS attributedOpName, v.attributedFile AS attributedFile,
       v.attributedLine AS attributedLine, v.userFile AS userFile, v.userLine AS userLine,
       v.category AS category,
       v.userFunction AS userFunction, v.stackLoop AS stackLoop, v.stackTurns AS stackTurns,
       v.turnBytes AS turnBytes, v.stackElement AS stackElement
ORDER BY valueId
