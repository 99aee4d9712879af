// One module across all runs
// @kind     table
// @answers  How did this module change from run to run?
// @param    module            STRING = ''        module name; all modules if empty
// @param    memorySpace       INTEGER = 0        memory space number
// @param    sortBy            STRING = 'run'     run (its name), time (of ingest), or the name of a
//           run tag
// @param    limit             INTEGER = 10000    rows to return
// @column   run               STRING       run name
// @column   compilation       STRING       key of the compilation
// @column   module            STRING       module name without trailing digits; null if not in the
//           dump
// @column   reservedBytes     INTEGER      total size of the allocations in the memory space,
//           without thread-local ones
// @column   physicalPeakBytes INTEGER      largest number of bytes of the memory space occupied by
//           live values
// @column   allocationBytes   INTEGER      total size of the allocations in all memory spaces
// @column   ingestedAt        STRING       time of the ingest, ISO 8601, UTC
// @column   tag               STRING       name=value of the tag in sortBy; null if none
// @shown    … allocationBytes
// @measure  reserved, physical, allocation
// @note     A tag sorts numerically if all its values are digits, otherwise as a string; runs
//           without it are last.
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
LIMIT $limit // before the other data is read
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
OPTIONAL MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
RETURN r.name AS run, c.key AS compilation, m.name AS module,
       coalesce(s.reservedBytes, 0) AS reservedBytes,
       CASE WHEN s.color IS NULL AND c.scheduleLength IS NOT NULL THEN 0
            ELSE s.physicalPeakBytes END AS physicalPeakBytes,
       c.allocationBytes AS allocationBytes, c.ingestedAt AS ingestedAt, tag
ORDER BY moment, width, tag, run, compilation
