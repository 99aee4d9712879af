// Lines of your code at the peaks of two runs, sorted by absolute growth, descending
// @kind     table
// @answers  Which line of my code, not of a library, grew at the peak between two runs?
// @param    runA         STRING        name of the first (baseline) run, or key of a compilation
// @param    runB         STRING        name of the second run, or key of a compilation
// @param    module       STRING = ''   module name; all modules if empty
// @param    memorySpace  INTEGER = 0   memory space number
// @param    limit        INTEGER = 20  rows to return
// @column   userFile     STRING        file of the innermost line outside installed packages
// @column   userLine     INTEGER       line in that file
// @column   userFunction STRING        function that contains the line; null if the dump has no
//           call stacks
// @column   bytesA       INTEGER       bytes at the peaks of A
// @column   bytesB       INTEGER       bytes at the peaks of B
// @column   growthBytes  INTEGER       difference, B − A
// @measure  physical
// @note     Bytes are physical shares of the peak, summed over the compilations of each side.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH v.userFile AS userFile, v.userLine AS userLine, v.userFunction AS userFunction,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS bytesB
RETURN userFile, userLine, userFunction, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, userFile, userLine, userFunction
LIMIT $limit
