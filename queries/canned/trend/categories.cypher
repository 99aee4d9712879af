// Categories at the peak of one module across all runs
// @kind     table
// @answers  Did weights, optimizer state or activations grow from run to run?
// @param    module        STRING = ''       module name; all modules if empty
// @param    memorySpace   INTEGER = 0       memory space number
// @param    limit         INTEGER = 10000   rows to return
// @column   run           STRING            run name
// @column   compilation   STRING            key of the compilation
// @column   category      STRING            part in the program: weight, optimizerState, activation, …
// @column   values        INTEGER           number of values live at the peak
// @column   physicalBytes INTEGER           total share of the physical peak
// @measure  physical
// @note     The category other contains values that no rule matches: nothing is guessed.
// @status   experimental
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
      AND ($module = '' OR EXISTS { MATCH (c)-[:OF_MODULE]->(n:Module) WHERE n.name = $module })
MATCH (c)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WITH r.name AS run, c.key AS compilation, v.category AS category,
     count(v) AS values, sum(p.physicalBytes) AS physicalBytes
RETURN run, compilation, category, values, physicalBytes
ORDER BY run, compilation, physicalBytes DESC, category
LIMIT $limit
