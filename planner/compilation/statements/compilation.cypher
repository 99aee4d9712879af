// Facts of a complete compilation, a row for each of its memory spaces
MATCH (c:Compilation {key: $compilation, state: 'complete'})
OPTIONAL MATCH (c)-[:USES_SPACE]->(m:MemorySpace)
RETURN c.key AS key, c.run AS run,
       coalesce(c.moduleName, c.name) AS module, c.platform AS platform, c.result AS result,
       c.scheduleLength AS scheduleLength, c.printedPeakBytes AS printedPeakBytes,
       c.printedPeakStep AS printedPeakStep,
       c.printsStackTrace AS printsStackTrace, m.color AS color, m.name AS name,
       m.allocationBytes AS allocationBytes, m.reservedBytes AS reservedBytes,
       m.logicalPeakBytes AS logicalPeakBytes, m.logicalPeakStep AS logicalPeakStep,
       m.physicalPeakBytes AS physicalPeakBytes, m.physicalPeakStep AS physicalPeakStep
ORDER BY color
