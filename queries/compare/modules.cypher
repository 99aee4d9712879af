// Modules of two runs, the one that grew most first
// @kind     table
// @answers  Which modules grew between two runs?
// @param    runA               STRING             name of the run before
// @param    runB               STRING             name of the run after
// @param    memorySpace        INTEGER = 0        number of the memory space
// @param    limit              INTEGER = 1000000  rows to return
// @column   module             STRING       module name without trailing digits; null if the dump
//           has none
// @column   compilationsA      INTEGER      how many in the first run
// @column   compilationsB      INTEGER      how many in the second run
// @column   reservedBytesA     INTEGER      largest of them in the first run; null if there is none
// @column   reservedBytesB     INTEGER      largest of them in the second run
// @column   physicalPeakBytesA INTEGER      largest of them in the first run
// @column   physicalPeakBytesB INTEGER      largest of them in the second run
// @column   growthBytes        INTEGER      of the reserved bytes
// @measure  reserved, physical
// @note     A module can be compiled several times in one run: the largest compilation of each
//           run stands for it. One that is missing counts as 0 in the growth.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete' AND (r.name = $runA OR r.name = $runB)
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
OPTIONAL MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
WITH r.name AS run, m.name AS module, coalesce(s.reservedBytes, 0) AS reservedBytes,
     CASE WHEN s.color IS NULL AND c.scheduleLength IS NOT NULL THEN 0
          ELSE s.physicalPeakBytes END AS peakBytes
WITH module,
     sum(CASE WHEN run = $runA THEN 1 ELSE 0 END) AS compilationsA,
     sum(CASE WHEN run = $runB THEN 1 ELSE 0 END) AS compilationsB,
     max(CASE WHEN run = $runA THEN reservedBytes ELSE null END) AS reservedBytesA,
     max(CASE WHEN run = $runB THEN reservedBytes ELSE null END) AS reservedBytesB,
     max(CASE WHEN run = $runA THEN peakBytes ELSE null END) AS physicalPeakBytesA,
     max(CASE WHEN run = $runB THEN peakBytes ELSE null END) AS physicalPeakBytesB
RETURN module, compilationsA, compilationsB, reservedBytesA, reservedBytesB,
       physicalPeakBytesA, physicalPeakBytesB,
       coalesce(reservedBytesB, 0) - coalesce(reservedBytesA, 0) AS growthBytes
ORDER BY growthBytes DESC, module
LIMIT $limit
