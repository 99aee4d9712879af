// Values of two runs that are new, gone or changed
// @kind     table
// @answers  Which buffers are new, gone, bigger?
// @param    runA        STRING        name of the run before, or key of a compilation
// @param    runB        STRING        name of the run after, or key of a compilation
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 20  rows to return
// @column   change      STRING        new, gone, grown, shrunk, or reshaped: as many bytes in
//           another shape
// @column   opName      STRING        op name that they belong to, as the framework set it
// @column   opcode      STRING        opcode of the instruction that makes it
// @column   shapeIndex  STRING        tuple index, in braces; null if the instruction gives no
//           tuple
// @column   shapeA      STRING        shape of the first side; the smallest text of several
// @column   shapeB      STRING        shape of the second side
// @column   valuesA     INTEGER       how many of the first side
// @column   valuesB     INTEGER       how many of the second side
// @column   bytesA      INTEGER       their assigned sizes of the first side
// @column   bytesB      INTEGER       their assigned sizes of the second side
// @column   growthBytes INTEGER       the difference
// @measure  assigned
// @note     Values above 0 bytes, thread-local ones left out, grouped by op name, opcode and
//           tuple index. What did not change is left out; the largest change comes first,
//           whichever its sign.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one op.
// @empty    no value is new, gone or changed
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:ALLOCATES]->(a:Allocation {memorySpace: $memorySpace})-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > 0 AND (a.role IS NULL OR a.role <> 'threadLocal')
WITH isA, isB, replace(v.attributedOpName, '/jit(main)', '') AS opName, v.opcode AS opcode, v.shapeIndex AS shapeIndex,
     min(v.shape) AS shape, count(*) AS valueCount, sum(v.sizeBytes) AS sizeBytes
WITH opName, opcode, shapeIndex,
     min(CASE WHEN isA THEN shape ELSE null END) AS shapeA,
     min(CASE WHEN isB THEN shape ELSE null END) AS shapeB,
     sum(CASE WHEN isA THEN valueCount ELSE 0 END) AS valuesA,
     sum(CASE WHEN isB THEN valueCount ELSE 0 END) AS valuesB,
     sum(CASE WHEN isA THEN sizeBytes ELSE 0 END) AS bytesA,
     sum(CASE WHEN isB THEN sizeBytes ELSE 0 END) AS bytesB
WITH opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB, bytesA, bytesB,
     CASE WHEN valuesA = 0 THEN 'new' WHEN valuesB = 0 THEN 'gone'
          WHEN bytesB > bytesA THEN 'grown' WHEN bytesB < bytesA THEN 'shrunk'
          WHEN shapeA <> shapeB THEN 'reshaped' ELSE 'same' END AS change
WHERE change <> 'same'
RETURN change, opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB, bytesA, bytesB,
       bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, opName, opcode, shapeIndex
LIMIT $limit
