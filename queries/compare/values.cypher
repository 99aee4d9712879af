// Values of two runs that are new, gone or changed
// @kind     table
// @answers  Which buffers are new, gone, bigger?
// @param    runA        STRING        name of the run before
// @param    runB        STRING        name of the run after
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 20  rows to return
// @column   change      STRING        new, gone, grown, shrunk, or reshaped: as many bytes in
//           another shape
// @column   opName      STRING        op name that they belong to, as the framework set it
// @column   opcode      STRING        opcode of the instruction that makes it
// @column   shapeIndex  STRING        tuple index, in braces; null if the instruction gives no
//           tuple
// @column   shapeA      STRING        shape in the first run; the smallest text of several
// @column   shapeB      STRING        shape in the second run
// @column   valuesA     INTEGER       how many in the first run
// @column   valuesB     INTEGER       how many in the second run
// @column   bytesA      INTEGER       their assigned sizes in the first run
// @column   bytesB      INTEGER       their assigned sizes in the second run
// @column   growthBytes INTEGER       the difference
// @measure  assigned
// @note     Values above 0 bytes, thread-local ones left out, grouped by op name, opcode and
//           tuple index. What did not change is left out; the largest change comes first,
//           whichever its sign.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one op.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete' AND (r.name = $runA OR r.name = $runB)
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH r.name AS run, c, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:ALLOCATES]->(a:Allocation {memorySpace: $memorySpace})-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > 0 AND (a.role IS NULL OR a.role <> 'threadLocal')
WITH run, replace(v.attributedOpName, '/jit(main)', '') AS opName, v.opcode AS opcode, v.shapeIndex AS shapeIndex,
     min(v.shape) AS shape, count(*) AS valueCount, sum(v.sizeBytes) AS sizeBytes
WITH opName, opcode, shapeIndex,
     min(CASE WHEN run = $runA THEN shape ELSE null END) AS shapeA,
     min(CASE WHEN run = $runB THEN shape ELSE null END) AS shapeB,
     sum(CASE WHEN run = $runA THEN valueCount ELSE 0 END) AS valuesA,
     sum(CASE WHEN run = $runB THEN valueCount ELSE 0 END) AS valuesB,
     sum(CASE WHEN run = $runA THEN sizeBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN run = $runB THEN sizeBytes ELSE 0 END) AS bytesB
WITH opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB, bytesA, bytesB,
     CASE WHEN valuesA = 0 THEN 'new' WHEN valuesB = 0 THEN 'gone'
          WHEN bytesB > bytesA THEN 'grown' WHEN bytesB < bytesA THEN 'shrunk'
          WHEN shapeA <> shapeB THEN 'reshaped' ELSE 'same' END AS change
WHERE change <> 'same'
RETURN change, opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB, bytesA, bytesB,
       bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, opName, opcode, shapeIndex
LIMIT $limit
