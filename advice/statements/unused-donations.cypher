// Donated inputs of a compilation whose bytes no result takes over, sorted by bytes, descending
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
WHERE a.donationOutcome = 'never used'
MATCH (a)-[:HOLDS]->(v:Value) WHERE v.valueId = a.donatedValue
OPTIONAL MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.liveUntil = c.scheduleLength AND w.key <> v.key
RETURN v.label AS value, a.donationReason AS reason, a.donationReaderFile AS readerFile,
       a.donationReaderLine AS readerLine, c.partitions AS partitions
ORDER BY v.sizeBytes DESC, a.parameterNumber, a.shapeIndex, w.label
