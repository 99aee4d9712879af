// Growth of the reserved bytes between two runs, split by cause
// @kind     table
// @answers  Why do they reserve more: inputs, outputs, live values at the peak, or gaps?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @column   cause       STRING        inputs; outputs; constants; live at the peak; idle at the
//           peak; fragmentation; or temporary, peak unknown
// @column   bytesA      INTEGER       bytes with this cause on the first side
// @column   bytesB      INTEGER       bytes with this cause on the second side
// @column   growthBytes INTEGER       difference, B − A
// @measure  reserved
// @note     Each byte of an allocation has one cause, so that the rows add up to the reserved bytes
//           of both sides. Thread-local allocations are excluded.
// @note     Inputs, outputs and constants are whole allocations; a donated input that contains an
//           output counts as an input. All other allocations are temporary, and their bytes are
//           split: live at the peak, if a value occupies them at the physical peak of the memory
//           space; idle, if not, but a value occupies them when their allocation is fullest;
//           otherwise fragmentation.
// @note     A dump without live ranges has no peak: its temporary allocations are not split.
// @empty    nothing is allocated there
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:ALLOCATES]->(a:Allocation {memorySpace: $memorySpace})
WHERE a.role IS NULL OR a.role <> 'threadLocal'
OPTIONAL MATCH (a)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH a, isA, isB, sum(p.physicalBytes) AS sharesBytes
WITH a.sizeBytes AS sizeBytes, a.physicalPeakBytes AS fullestBytes,
     coalesce(sharesBytes, 0) AS liveBytes, isA, isB,
     CASE WHEN a.role = 'parameter' THEN 'inputs' WHEN a.role = 'constant' THEN 'constants'
          WHEN a.role = 'output' OR a.role = 'liveOut' THEN 'outputs'
          WHEN a.physicalPeakBytes IS NULL THEN 'temporary, peak unknown'
          ELSE 'temporary' END AS kind
UNWIND ['whole', 'live at the peak', 'idle at the peak', 'fragmentation'] AS share
WITH share, kind, isA, isB,
     CASE WHEN share = 'whole' THEN sizeBytes WHEN share = 'live at the peak' THEN liveBytes
          WHEN share = 'idle at the peak' THEN fullestBytes - liveBytes
          ELSE sizeBytes - fullestBytes END AS heldBytes
WHERE (kind = 'temporary' AND share <> 'whole') OR (kind <> 'temporary' AND share = 'whole')
WITH CASE WHEN share = 'whole' THEN kind ELSE share END AS cause,
     sum(CASE WHEN isA THEN heldBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN isB THEN heldBytes ELSE 0 END) AS bytesB
WHERE bytesA <> 0 OR bytesB <> 0
RETURN cause, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, cause
