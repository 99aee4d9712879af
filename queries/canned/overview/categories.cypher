// Categories at the peaks of all compilations
// @kind     table
// @answers  How much of each program's peak are weights, optimizer state and activations?
// @param    run           STRING = ''       run name; all runs if empty
// @param    memorySpace   INTEGER = 0       memory space number
// @param    limit         INTEGER = 10000   rows to return
// @column   compilation   STRING            key of the compilation
// @column   category      STRING            part in the program: weight, optimizerState, activation, …
// @column   values        INTEGER           number of values live at the peak
// @column   physicalBytes INTEGER           total share of the physical peak
// @column   peakBytes     INTEGER           physical peak of the compilation
// @measure  physical
// @note     The category other contains values that no rule matches: nothing is guessed.
// @status   experimental
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // otherwise one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
WHERE c.state = 'complete'
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WITH c.key AS compilation, v.category AS category, s.physicalPeakBytes AS peakBytes,
     count(v) AS values, sum(p.physicalBytes) AS physicalBytes
RETURN compilation, category, values, physicalBytes, peakBytes
ORDER BY peakBytes DESC, compilation, physicalBytes DESC, category
LIMIT $limit
