// Source lines at the peaks of two runs, the largest growth or shrinkage first
// @kind     table
// @answers  Which line of mine grew at the peak between two runs?
// @param    runA        STRING        name of the run before, or key of a compilation
// @param    runB        STRING        name of the run after, or key of a compilation
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 20  rows to return
// @column   sourceFile  STRING        source file of the op that values belong to, innermost frame
// @column   sourceLine  INTEGER       line in that file
// @column   bytesA      INTEGER       at the peaks of the first side
// @column   bytesB      INTEGER       at the peaks of the second side
// @column   growthBytes INTEGER       the difference
// @measure  physical
// @note     Physical shares of the peak, summed over the compilations of each side.
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     A line that moved is one line, that of the second side: an op that has one line in each
//           of them counts there.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
     '/jit(main)', ''), '/closed_call', ''), '/jit(dynamic_index_in_dim)', ''),
     '/jit(dynamic_update_index_in_dim)', ''), '(while)))', '()))/while'),
     '(while))', '())/while'), '(while)', '()/while') AS opName,
     v.attributedFile AS sourceFile, v.attributedLine AS sourceLine,
     'jit(' + replace(max(m.name), 'jit_', '') + ')/' AS compiled,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS ofA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS ofB
// what one side alone has is matched without the compiled function, and whatever its line
WITH opName, sourceFile, sourceLine, ofA, ofB, ofA = 0 OR ofB = 0 AS isLone,
     CASE WHEN ofA = 0 OR ofB = 0 THEN replace(opName, coalesce(compiled, 'jit()/'), '')
          ELSE opName END AS matched
WITH matched, isLone, count(DISTINCT CASE WHEN ofA > 0 THEN sourceLine ELSE null END) AS linesA,
     count(DISTINCT CASE WHEN ofB > 0 THEN sourceLine ELSE null END) AS linesB,
     max(CASE WHEN ofB > 0 THEN sourceFile ELSE null END) AS fileB,
     max(CASE WHEN ofB > 0 THEN sourceLine ELSE null END) AS lineB,
     collect({file: sourceFile, line: sourceLine, a: ofA, b: ofB}) AS places
WITH places, fileB, lineB,
     isLone AND matched IS NOT NULL AND linesA = 1 AND linesB = 1 AS isMoved
UNWIND places AS place
WITH CASE WHEN isMoved THEN fileB ELSE place.file END AS sourceFile,
     CASE WHEN isMoved THEN lineB ELSE place.line END AS sourceLine,
     sum(place.a) AS bytesA, sum(place.b) AS bytesB
RETURN sourceFile, sourceLine, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, sourceFile, sourceLine
LIMIT $limit
