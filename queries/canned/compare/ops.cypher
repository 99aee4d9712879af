// Op names at the peaks of two runs, the largest growth or shrinkage first
// @kind     table
// @answers  Which op grew at the peak between two runs?
// @param    runA        STRING        name of the run before, or key of a compilation
// @param    runB        STRING        name of the run after, or key of a compilation
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 20  rows to return
// @column   opName      STRING        op name that values belong to, as the framework set it
// @column   bytesA      INTEGER       at the peaks of the first side
// @column   bytesB      INTEGER       at the peaks of the second side
// @column   growthBytes INTEGER       the difference
// @measure  physical
// @note     Physical shares of the peak, summed over the compilations of each side.
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one op.
// @note     In op names of loops, jvp(while)/body/… of older JAX is read as jvp()/while/body/…, and
//           what newer JAX adds there is left out: closed_call and jit(dynamic_index_in_dim).
// @note     An op that one side alone has at its peak is matched without the name of the compiled
//           function, which may be another one there; its name is that of the second side.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
     '/jit(main)', ''), '/closed_call', ''), '/jit(dynamic_index_in_dim)', ''),
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
