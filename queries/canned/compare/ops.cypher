// Op names at the peaks of two runs, sorted by absolute growth, descending
// @kind     table
// @answers  Which op grew at the peak between two runs?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @param    limit       INTEGER = 20  rows to return
// @column   opName      STRING        op name that the values belong to, as set by the framework
// @column   bytesA      INTEGER       bytes at the peaks of A
// @column   bytesB      INTEGER       bytes at the peaks of B
// @column   growthBytes INTEGER       difference, B − A
// @measure  physical
// @note     Bytes are physical shares of the peak, summed over the compilations of each side.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer JAX are the same op.
// @note     In loops, jvp(while)/body/… of older JAX is read as jvp()/while/body/…; closed_call,
//           eval_jaxpr and jit(dynamic_index_in_dim) of newer JAX are removed.
// @note     An op at the peak of only one side is matched without the name of the compiled
//           function, which may have changed. It is listed under its name on the second side.
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
     '(while))', '())/while'), '(while)', '()/while') AS op,
     'jit(' + replace(max(m.name), 'jit_', '') + ')/' AS compiled,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS ofA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS ofB
WITH op, ofA, ofB,
     CASE WHEN ofA = 0 OR ofB = 0 THEN replace(op, coalesce(compiled, 'jit()/'), '')
          ELSE op END AS matched, ofA = 0 OR ofB = 0 AS isLone
WITH matched, isLone, max(op) AS nameA, max(CASE WHEN ofB > 0 THEN op ELSE null END) AS nameB,
     sum(ofA) AS bytesA, sum(ofB) AS bytesB
RETURN coalesce(nameB, nameA) AS opName, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, opName, matched, isLone
LIMIT $limit
