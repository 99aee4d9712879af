// Values of two runs that are new, gone or changed
// @kind     table
// @answers  Which buffers are new, gone or larger?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @param    limit       INTEGER = 20  rows to return
// @column   change      STRING        new, gone, grown, shrunk, or reshaped (the same bytes in
//           another shape)
// @column   opName      STRING        op name that the values belong to, as set by the framework
// @column   opcode      STRING        opcode of the instruction that produces the value
// @column   shapeIndex  STRING        tuple index, in braces; null if the result is not a tuple
// @column   shapeA      STRING        shape on the first side; the first by name if there are
//           several
// @column   shapeB      STRING        shape on the second side; the first by name if there are
//           several
// @column   valuesA     INTEGER       number of values on the first side
// @column   valuesB     INTEGER       number of values on the second side
// @column   opNameA     STRING        op name on the first side, if different
// @column   bytesA      INTEGER       total assigned size on the first side
// @column   bytesB      INTEGER       total assigned size on the second side
// @column   growthBytes INTEGER       difference, B − A
// @shown    … shapeIndex
// @measure  assigned
// @note     Rows are values above 0 bytes, without thread-local ones, grouped by op name, opcode
//           and tuple index. Unchanged groups are excluded. The largest absolute change is first.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer JAX are the same op.
// @note     In loops, jvp(while)/body/… of older JAX is read as jvp()/while/body/…; closed_call,
//           eval_jaxpr and jit(dynamic_index_in_dim) of newer JAX are removed.
// @note     If only one side has an op name, opcode and tuple index, its values are matched by
//           shape, opcode and, for a fusion, its root operation, so that renaming a function
//           or scope is not a change.
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
WITH replace(replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
     '/jit(main)', ''), '/closed_call', ''), '/eval_jaxpr', ''), '/jit(dynamic_index_in_dim)', ''),
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
// groups of only one side are matched by shape and operation, not by name
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
