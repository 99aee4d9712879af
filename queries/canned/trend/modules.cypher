// One module over all runs
// @kind     table
// @answers  How did this module change from run to run?
// @param    module            STRING = ''        name of a module; all of them if empty
// @param    memorySpace       INTEGER = 0        number of the memory space
// @param    sortBy            STRING = 'run'     run (its name), time (of ingest), or the name of a
//           tag of the runs
// @param    limit             INTEGER = 10000    rows to return
// @column   run               STRING       name of the run
// @column   compilation       STRING       its key
// @column   module            STRING       module name without trailing digits; null if the dump
//           has none
// @column   reservedBytes     INTEGER      sum of the allocations of the memory space,
//           thread-local ones left out
// @column   physicalPeakBytes INTEGER      most of its bytes that hold a live value
// @column   allocationBytes   INTEGER      sum of the allocations of all memory spaces
// @column   ingestedAt        STRING       ISO 8601, UTC
// @column   tag               STRING       name=value of the tag that sorts; null if none does
// @measure  reserved, physical, allocation
// @note     A tag sorts by number where its values are digits alone, else by text; runs without
//           it come last.
// @status   stable
MATCH (r:Run)
UNWIND coalesce(r.tags, ['']) + [''] AS tagged
WITH r,
     min(CASE WHEN tagged STARTS WITH ($sortBy + '=') AND NOT $sortBy IN ['run', 'time']
              THEN tagged ELSE null END) AS tag
WITH r, tag,
     CASE WHEN tag =~ '.*=[0-9]+' THEN size(tag) WHEN tag IS NULL THEN null ELSE 0 END AS width
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
      AND ($module = '' OR EXISTS { MATCH (c)-[:OF_MODULE]->(n:Module) WHERE n.name = $module })
WITH r, c, tag, width, CASE WHEN $sortBy = 'time' THEN c.ingestedAt ELSE '' END AS moment
ORDER BY moment, width, tag, r.name, c.key
LIMIT $limit // before the rest is read
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
OPTIONAL MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
RETURN r.name AS run, c.key AS compilation, m.name AS module,
       coalesce(s.reservedBytes, 0) AS reservedBytes,
       CASE WHEN s.color IS NULL AND c.scheduleLength IS NOT NULL THEN 0
            ELSE s.physicalPeakBytes END AS physicalPeakBytes,
       c.allocationBytes AS allocationBytes, c.ingestedAt AS ingestedAt, tag
ORDER BY moment, width, tag, run, compilation
