// Scopes of the program at the peaks of two runs, sorted by absolute growth, descending
// @kind     table
// @answers  Which layer or function grew at the peak between two runs?
// @param    runA        STRING        name of the first (baseline) run, or key of a compilation
// @param    runB        STRING        name of the second run, or key of a compilation
// @param    module      STRING = ''   module name; all modules if empty
// @param    memorySpace INTEGER = 0   memory space number
// @param    depth       INTEGER = 3   number of leading parts of the op name to keep, from 1
// @param    limit       INTEGER = 20  rows to return
// @bounds   depth       1..
// @column   scope       STRING        leading parts of the op name; null if there is no op name
// @column   bytesA      INTEGER       bytes at the peaks of A
// @column   bytesB      INTEGER       bytes at the peaks of B
// @column   growthBytes INTEGER       difference, B − A
// @measure  physical
// @note     Bytes are physical shares of the peak, summed over the compilations of each side.
// @note     An op name with fewer parts than depth is a scope by itself, so that every value is
//           counted.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer JAX are the same scope.
// @note     A scope at the peak of only one side is matched without the name of the compiled
//           function, which may have changed. It is listed under its name on the second side.
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
