// One module over all runs
// @kind     table
// @answers  How did this module change from run to run?
// @param    module            STRING = ''  name of a module; all of them if empty
// @param    memorySpace       INTEGER = 0  number of the memory space
// @column   run               STRING       name of the run
// @column   compilation       STRING       its key
// @column   module            STRING       module name without trailing digits; null if the dump
//           has none
// @column   reservedBytes     INTEGER      sum of the allocations of the memory space,
//           thread-local ones left out
// @column   physicalPeakBytes INTEGER      most of its bytes that hold a live value
// @column   allocationBytes   INTEGER      sum of the allocations of all memory spaces
// @column   ingestedAt        STRING       ISO 8601, UTC
// @measure  reserved, physical, allocation
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH r, c, m WHERE $module = '' OR m.name = $module
OPTIONAL MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
RETURN r.name AS run, c.key AS compilation, m.name AS module,
       coalesce(s.reservedBytes, 0) AS reservedBytes,
       CASE WHEN s.color IS NULL THEN 0 ELSE s.physicalPeakBytes END AS physicalPeakBytes,
       c.allocationBytes AS allocationBytes, c.ingestedAt AS ingestedAt
ORDER BY run, compilation
