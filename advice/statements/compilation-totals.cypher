// Totals of compilations, as printed by XLA and as summed from the allocations in the graph
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})
MATCH (r:Run)-[:COMPILED]->(c) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation)
WITH r, c, sum(a.sizeBytes) AS summedBytes
RETURN r.name AS run, c.key AS compilation, c.totalBytes AS totalBytes,
       CASE WHEN c.detail = 'peak' THEN c.allocationBytes
            ELSE coalesce(summedBytes, 0) END AS allocationBytes,
       c.reservedBytes AS reservedBytes,
       c.logicalPeakBytes AS logicalPeakBytes, c.physicalPeakBytes AS physicalPeakBytes,
       c.scheduleLength IS NOT NULL AS hasRanges, c.heapTraceAgrees AS heapTraceAgrees
ORDER BY run, compilation
