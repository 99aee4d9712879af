// What allocations are for, in two runs
// @kind     table
// @answers  Parameters, outputs, temporaries: which part grew?
// @param    runA        STRING       name of the run before
// @param    runB        STRING       name of the run after
// @param    module      STRING = ''  name of a module; all of them if empty
// @column   role        STRING       parameter, output, temp, constant, threadLocal or liveOut
// @column   bytesA      INTEGER      bytes of such allocations in the first run
// @column   bytesB      INTEGER      bytes of such allocations in the second run
// @column   growthBytes INTEGER      the difference
// @measure  allocation
// @note     All memory spaces and thread-local allocations included, summed over the
//           compilations of each run.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete' AND (r.name = $runA OR r.name = $runB)
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH r.name AS run, c, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:ALLOCATES]->(a:Allocation)
WITH a.role AS role,
     sum(CASE WHEN run = $runA THEN a.sizeBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN run = $runB THEN a.sizeBytes ELSE 0 END) AS bytesB
RETURN role, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY growthBytes DESC, role
