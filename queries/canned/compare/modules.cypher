// Modules of two runs, sorted by growth, descending
// @kind     table
// @answers  Which modules grew between two runs?
// @param    runA               STRING             name of the first (baseline) run, or key of a
//           compilation
// @param    runB               STRING             name of the second run, or key of a compilation
// @param    memorySpace        INTEGER = 0        memory space number
// @param    limit              INTEGER = 1000000  rows to return
// @column   module             STRING       module name without trailing digits; null if not in the
//           dump
// @column   compilationsA      INTEGER      number of compilations on the first side
// @column   compilationsB      INTEGER      number of compilations on the second side
// @column   reservedBytesA     INTEGER      reserved bytes of the largest compilation on the first
//           side; null if none
// @column   reservedBytesB     INTEGER      reserved bytes of the largest compilation on the second
//           side; null if none
// @column   physicalPeakBytesA INTEGER      largest physical peak on the first side
// @column   physicalPeakBytesB INTEGER      largest physical peak on the second side
// @column   growthBytes        INTEGER      difference of the reserved bytes, B − A
// @measure  reserved, physical
// @note     A module can be compiled several times in one run: only the largest compilation of each
//           run counts. A module missing from one side counts as 0 there.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
OPTIONAL MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
WITH isA, isB, m.name AS module, coalesce(s.reservedBytes, 0) AS reservedBytes,
     CASE WHEN s.color IS NULL AND c.scheduleLength IS NOT NULL THEN 0
          ELSE s.physicalPeakBytes END AS peakBytes
WITH module,
     sum(CASE WHEN isA THEN 1 ELSE 0 END) AS compilationsA,
     sum(CASE WHEN isB THEN 1 ELSE 0 END) AS compilationsB,
     max(CASE WHEN isA THEN reservedBytes ELSE null END) AS reservedBytesA,
     max(CASE WHEN isB THEN reservedBytes ELSE null END) AS reservedBytesB,
     max(CASE WHEN isA THEN peakBytes ELSE null END) AS physicalPeakBytesA,
     max(CASE WHEN isB THEN peakBytes ELSE null END) AS physicalPeakBytesB
RETURN module, compilationsA, compilationsB, reservedBytesA, reservedBytesB,
       physicalPeakBytesA, physicalPeakBytesB,
       coalesce(reservedBytesB, 0) - coalesce(reservedBytesA, 0) AS growthBytes
ORDER BY growthBytes DESC, module
LIMIT $limit
