// Calls at the peaks of two runs, the largest growth or shrinkage first
// @kind     table
// @answers  Which call of mine grew at the peak between two runs?
// @param    runA        STRING        name of the run before, or key of a compilation
// @param    runB        STRING        name of the run after, or key of a compilation
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 20  rows to return
// @column   file        STRING        source file of the function that made the values
// @column   line        INTEGER       line in that file
// @column   function    STRING        that function; null where the dump has no call stacks
// @column   callerFile  STRING        source file of the function that called it; null if it is the
//           outermost
// @column   callerLine  INTEGER       the line of the call
// @column   caller      STRING        the function that called it
// @column   bytesA      INTEGER       at the peaks of the first side
// @column   bytesB      INTEGER       at the peaks of the second side
// @column   growthBytes INTEGER       the difference
// @measure  physical
// @note     Physical shares of the peak, summed over the compilations of each side.
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     Calls of two runs are one where function, line and direct caller are, whatever called
//           that: further out, lines move with every edit, and a stack would be gone and new
//           for each. So each byte counts once, and the rows add up to the peaks; in a tree it
//           would count for all its callers. peak/by-stack has the tree of one compilation.
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
