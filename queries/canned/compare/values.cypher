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
// @column   opNameA     STRING        op name on the first side, where that is another one
// @column   bytesA      INTEGER       their assigned sizes of the first side
// @column   bytesB      INTEGER       their assigned sizes of the second side
// @column   growthBytes INTEGER       the difference
// @measure  assigned
// @note     Values above 0 bytes, thread-local ones left out, grouped by op name, opcode and
//           tuple index. What did not change is left out; the largest change comes first,
//           whichever its sign.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one op.
// @note     In op names of loops, jvp(while)/body/… of older JAX is read as jvp()/while/body/…, and
//           what newer JAX adds there is left out: closed_call and jit(dynamic_index_in_dim).
// @note     Values are matched by what they are: those of an op name, opcode and tuple index that
//           one side alone has are grouped by shape, opcode and, of a fusion, what its root does,
//           so that a renamed function or scope is no change.
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
OPTIONAL MATCH (i:Instruction)-[:DEFINES]->(v)
WITH replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
     '/jit(main)', ''), '/closed_call', ''), '/jit(dynamic_index_in_dim)', ''),
     '/jit(dynamic_update_index_in_dim)', ''), '(while)))', '()))/while'),
     '(while))', '())/while'), '(while)', '()/while') AS name,
     v.opcode AS opcode, v.shapeIndex AS shapeIndex, v.shape AS shape, i.rootOpcode AS rootOpcode,
     sum(CASE WHEN isA THEN 1 ELSE 0 END) AS countA,
     sum(CASE WHEN isB THEN 1 ELSE 0 END) AS countB,
     sum(CASE WHEN isA THEN v.sizeBytes ELSE 0 END) AS sizeA,
     sum(CASE WHEN isB THEN v.sizeBytes ELSE 0 END) AS sizeB
WITH name, opcode, shapeIndex, sum(countA) = 0 OR sum(countB) = 0 AS isLone,
     collect({shape: shape, root: rootOpcode, a: countA, b: countB, sizeA: sizeA, sizeB: sizeB})
     AS alike
UNWIND alike AS one
// what one side alone has is matched by shape and operation, whatever its name
WITH CASE WHEN isLone THEN null ELSE name END AS sameName, isLone, opcode, shapeIndex,
     CASE WHEN isLone THEN one.shape ELSE null END AS sameShape,
     CASE WHEN isLone THEN one.root ELSE null END AS sameRoot,
     min(CASE WHEN one.a > 0 THEN name ELSE null END) AS nameA,
     min(CASE WHEN one.b > 0 THEN name ELSE null END) AS nameB,
     min(CASE WHEN one.a > 0 THEN one.shape ELSE null END) AS shapeA,
     min(CASE WHEN one.b > 0 THEN one.shape ELSE null END) AS shapeB,
     sum(one.a) AS valuesA, sum(one.b) AS valuesB, sum(one.sizeA) AS bytesA, sum(one.sizeB) AS bytesB
WITH coalesce(nameB, nameA) AS opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB,
     sameName, isLone, sameShape, sameRoot,
     CASE WHEN nameA <> nameB THEN nameA ELSE null END AS opNameA, bytesA, bytesB,
     CASE WHEN valuesA = 0 THEN 'new' WHEN valuesB = 0 THEN 'gone'
          WHEN bytesB > bytesA THEN 'grown' WHEN bytesB < bytesA THEN 'shrunk'
          WHEN shapeA <> shapeB THEN 'reshaped' ELSE 'same' END AS change
WHERE change <> 'same'
RETURN change, opName, opcode, shapeIndex, shapeA, shapeB, valuesA, valuesB, opNameA, bytesA, bytesB,
       bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, opName, opcode, shapeIndex, sameShape, sameRoot,
         sameName, isLone
LIMIT $limit
