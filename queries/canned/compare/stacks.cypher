// Calls at the peaks of two runs, sorted by absolute growth, descending
// @kind     table
// @answers  Which call in my program grew at the peak between two runs?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @param    limit       INTEGER = 20  rows to return
// @column   file        STRING        source file of the function
// @column   line        INTEGER       line in that file
// @column   function    STRING        function that produced the values; null if the dump has no call
//           stacks
// @column   callerFile  STRING        source file of the caller; null for the outermost function
// @column   callerLine  INTEGER       line of the call
// @column   caller      STRING        function that contains the call
// @column   bytesA      INTEGER       bytes at the peaks of A
// @column   bytesB      INTEGER       bytes at the peaks of B
// @column   growthBytes INTEGER       difference, B − A
// @measure  physical
// @note     Bytes are physical shares of the peak, summed over the compilations of each side.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     Calls of two runs are the same if function, line and direct caller are equal. Outer
//           callers are ignored: their lines move with every edit, so that whole stacks would be
//           listed as gone and new. Each byte counts once, and the rows add up to the peaks.
//           peak/by-stack has the call tree of one compilation.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
OPTIONAL MATCH (f)-[:CALLED_FROM]->(g:Frame)
WITH f.function AS function, coalesce(f.file, v.attributedFile) AS file,
     coalesce(f.line, v.attributedLine) AS line, g.function AS caller, g.file AS callerFile,
     g.line AS callerLine,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS bytesB
RETURN file, line, function, callerFile, callerLine, caller, bytesA, bytesB,
       bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, file, line, function,
         callerFile, callerLine, caller
LIMIT $limit
