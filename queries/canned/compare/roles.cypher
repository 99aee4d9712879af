// Allocations by role, in two runs
// @kind     table
// @answers  Which part grew: parameters, outputs or temporaries?
// @param    runA        STRING       name of the first (baseline) run, or key of a compilation
// @param    runB        STRING       name of the second run, or key of a compilation
// @param    module      STRING = ''  module name; all modules if empty
// @column   role        STRING       parameter, output, temp, constant, threadLocal or liveOut
// @column   bytesA      INTEGER      size of the allocations with this role on the first side
// @column   bytesB      INTEGER      size of the allocations with this role on the second side
// @column   growthBytes INTEGER      difference, B − A
// @measure  allocation
// @note     All memory spaces and thread-local allocations are included, summed over the
//           compilations of each side.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:ALLOCATES]->(a:Allocation)
WITH a.role AS role,
     sum(CASE WHEN isA THEN a.sizeBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN isB THEN a.sizeBytes ELSE 0 END) AS bytesB
RETURN role, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, role
