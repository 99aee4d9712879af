// One op across all runs
// @kind     table
// @answers  In which run did the memory of this op appear?
// @param    opName      STRING             complete op name
// @param    memorySpace INTEGER = 0        memory space number
// @param    sortBy      STRING = 'run'     run (its name), time (of ingest), or a run's name
//           tag
// @param    limit       INTEGER = 10000  rows to return
// @column   run         STRING       run name
// @column   compilation STRING       key of the compilation
// @column   bytes       INTEGER      share of the physical peak that belongs to the op
// @column   ingestedAt  STRING       time of the ingest, ISO 8601, UTC
// @column   tag         STRING       name=value of the tag in sortBy; null if none
// @measure  physical
// @note     Rows are compilations in which a value of the op is live at the physical peak.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer JAX are the same op.
// @note     A tag sorts numerically if all its values are digits, otherwise as a string; runs
//           without it are last.
// @status   stable
MATCH (o:Op) // by name: its key is another where that is too long
WHERE replace(o.name, '/jit(main)', '') = replace($opName, '/jit(main)', '')
WITH DISTINCT o // otherwise one engine starts at the runs
MATCH (o)<-[:ATTRIBUTED_TO]-(v:Value)
MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace {color: $memorySpace})<-[:USES_SPACE]-(c:Compilation)
WHERE c.state = 'complete'
WITH c, sum(p.physicalBytes) AS bytes
MATCH (r:Run)-[:COMPILED]->(c)
UNWIND coalesce(r.tags, ['']) + [''] AS tagged
WITH r, c, bytes,
     min(CASE WHEN tagged STARTS WITH ($sortBy + '=') AND NOT $sortBy IN ['run', 'time']
              THEN tagged ELSE null END) AS tag
RETURN r.name AS run, c.key AS compilation, bytes, c.ingestedAt AS ingestedAt, tag
ORDER BY CASE WHEN $sortBy = 'time' THEN ingestedAt ELSE '' END,
         CASE WHEN tag =~ '.*=[0-9]+' THEN size(tag) WHEN tag IS NULL THEN null ELSE 0 END, tag,
         run, compilation
LIMIT $limit
