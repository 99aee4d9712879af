// Source lines at the peaks of two runs, sorted by absolute growth, descending
// @kind     table
// @answers  Which source line grew at the peak between two runs?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @param    limit       INTEGER = 20  rows to return
// @column   userFile    STRING        file of the innermost line outside installed packages
// @column   userLine    INTEGER       line in that file
// @column   sourceFile  STRING        source file of the op, innermost frame: yours, or the
//           library's that your line calls
// @column   sourceLine  INTEGER       line in that file
// @column   bytesA      INTEGER       bytes at the peaks of A
// @column   bytesB      INTEGER       bytes at the peaks of B
// @column   growthBytes INTEGER       difference, B − A
// @shown    userFile bytesA bytesB growthBytes sourceFile
// @measure  physical
// @note     Bytes are physical shares of the peak, summed over the compilations of each side.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     A line that moved counts as one line, under its number on the second side: an op with
//           one line on each side counts there.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH replace(replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
     '/jit(main)', ''), '/closed_call', ''), '/eval_jaxpr', ''), '/jit(dynamic_index_in_dim)', ''),
     '/jit(dynamic_update_index_in_dim)', ''), '(while)))', '()))/while'),
     '(while))', '())/while'), '(while)', '()/while') AS opName,
     v.userFile AS userFile, v.userLine AS userLine,
     v.attributedFile AS sourceFile, v.attributedLine AS sourceLine,
     'jit(' + replace(max(m.name), 'jit_', '') + ')/' AS compiled,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS ofA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS ofB
// groups of only one side are matched without the compiled function and the line
WITH opName, userFile, userLine, sourceFile, sourceLine, ofA, ofB, ofA = 0 OR ofB = 0 AS isLone,
     CASE WHEN ofA = 0 OR ofB = 0 THEN replace(opName, coalesce(compiled, 'jit()/'), '')
          ELSE opName END AS matched
WITH matched, isLone, count(DISTINCT CASE WHEN ofA > 0 THEN sourceLine ELSE null END) AS linesA,
     count(DISTINCT CASE WHEN ofB > 0 THEN sourceLine ELSE null END) AS linesB,
     max(CASE WHEN ofB > 0 THEN userFile ELSE null END) AS userFileB,
     max(CASE WHEN ofB > 0 THEN userLine ELSE null END) AS userLineB,
     max(CASE WHEN ofB > 0 THEN sourceFile ELSE null END) AS fileB,
     max(CASE WHEN ofB > 0 THEN sourceLine ELSE null END) AS lineB,
     collect({userFile: userFile, userLine: userLine, file: sourceFile, line: sourceLine,
              a: ofA, b: ofB}) AS places
WITH places, userFileB, userLineB, fileB, lineB,
     isLone AND matched IS NOT NULL AND linesA = 1 AND linesB = 1 AS isMoved
UNWIND places AS place
WITH CASE WHEN isMoved THEN userFileB ELSE place.userFile END AS userFile,
     CASE WHEN isMoved THEN userLineB ELSE place.userLine END AS userLine,
     CASE WHEN isMoved THEN fileB ELSE place.file END AS sourceFile,
     CASE WHEN isMoved THEN lineB ELSE place.line END AS sourceLine,
     sum(place.a) AS bytesA, sum(place.b) AS bytesB
RETURN userFile, userLine, sourceFile, sourceLine, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, sourceFile, sourceLine, userFile, userLine
LIMIT $limit
