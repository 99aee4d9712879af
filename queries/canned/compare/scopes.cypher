// Scopes of the program at the peaks of two runs, the largest growth or shrinkage first
// @kind     table
// @answers  Which layer or function of mine grew at the peak between two runs?
// @param    runA        STRING        name of the run before, or key of a compilation
// @param    runB        STRING        name of the run after, or key of a compilation
// @param    module      STRING = ''   name of a module; all of them if empty
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    depth       INTEGER = 3   parts of the op name to keep, from 1
// @param    limit       INTEGER = 20  rows to return
// @bounds   depth       1..
// @column   scope       STRING        leading parts of the op name; null if there is none
// @column   bytesA      INTEGER       at the peaks of the first side
// @column   bytesB      INTEGER       at the peaks of the second side
// @column   growthBytes INTEGER       the difference
// @measure  physical
// @note     Physical shares of the peak, summed over the compilations of each side.
// @note     An op name with fewer parts than depth is its own scope, so that nothing is lost.
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one scope.
// @note     A scope that one side alone has at its peak is matched without the name of the compiled
//           function, which may be another one there; its name is that of the second side.
// @status   stable
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, r.name = $runA OR c.key = $runA AS isA, r.name = $runB OR c.key = $runB AS isB
WHERE isA OR isB
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
WITH c, isA, isB, m WHERE $module = '' OR m.name = $module
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_TO]->(o:Op)
WITH o.key AS op, v.attributedOpName AS opName,
     'jit(' + replace(max(m.name), 'jit_', '') + ')/' AS compiled,
     sum(CASE WHEN isA THEN p.physicalBytes ELSE 0 END) AS opBytesA,
     sum(CASE WHEN isB THEN p.physicalBytes ELSE 0 END) AS opBytesB
OPTIONAL MATCH (:Op {key: op})-[:WITHIN]->(z:Scope)
WHERE z.depth = CASE WHEN opName CONTAINS '/jit(main)' THEN $depth + 1 ELSE $depth END
WITH replace(coalesce(z.name, opName), '/jit(main)', '') AS wholeScope, compiled,
     sum(opBytesA) AS ofA, sum(opBytesB) AS ofB
WITH wholeScope, max(compiled) AS compiled, sum(ofA) AS ofA, sum(ofB) AS ofB
WITH wholeScope, ofA, ofB, ofA = 0 OR ofB = 0 AS isLone,
     CASE WHEN ofA = 0 OR ofB = 0 THEN replace(wholeScope, coalesce(compiled, 'jit()/'), '')
          ELSE wholeScope END AS matched
WITH matched, isLone, max(wholeScope) AS nameA,
     max(CASE WHEN ofB > 0 THEN wholeScope ELSE null END) AS nameB,
     sum(ofA) AS bytesA, sum(ofB) AS bytesB
RETURN coalesce(nameB, nameA) AS scope, bytesA, bytesB, bytesB - bytesA AS growthBytes
ORDER BY abs(bytesB - bytesA) DESC, growthBytes DESC, scope, matched, isLone
LIMIT $limit
