// Source lines whose bytes at the peak differ most between two runs, as a picture
// @kind     graph
// @answers  On which lines do two runs differ, and through which values?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    memorySpace INTEGER = 0   memory space number
// @param    lines       INTEGER = 6   number of lines to draw, those with the largest difference
// @param    limit       INTEGER = 22  number of values to draw, those with the largest share
// @column   differs     PATH          path from a run through a value at its peak to the source
//           line
// @measure  physical
// @note     The lines are those of compare/lines, which has the growth of each.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
      <-[p:LIVE_AT_PEAK]-(v:Value)-[:ATTRIBUTED_LINE]->(l:SourceLine)
WHERE c.state = 'complete'
      AND (r.name = $runA OR c.key = $runA OR r.name = $runB OR c.key = $runB)
WITH l.key AS k,
     sum(CASE WHEN r.name = $runA OR c.key = $runA THEN p.physicalBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN r.name = $runB OR c.key = $runB THEN p.physicalBytes ELSE 0 END) AS bytesB
WHERE bytesA <> bytesB
WITH k, abs(bytesB - bytesA) AS difference
ORDER BY difference DESC, k
LIMIT $lines
// without DISTINCT the embedded engine loses the order that the limit cuts
WITH DISTINCT k, difference
WITH collect(k) AS changed
MATCH differs = (r:Run)-[:COMPILED]->(c:Compilation)-[:USES_SPACE]->
      (s:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
      -[:ATTRIBUTED_LINE]->(l:SourceLine)
WHERE c.state = 'complete' AND p.physicalBytes > 0 AND l.key IN changed
      AND (r.name = $runA OR c.key = $runA OR r.name = $runB OR c.key = $runB)
RETURN differs
ORDER BY p.physicalBytes DESC, v.key
LIMIT $limit
