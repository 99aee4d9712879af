// Equal values that are live beside one, and what keeps them so
// @kind     table
// @answers  Why do these equal values not share one buffer?
// @param    compilation  STRING          key of a compilation, or a unique part of it
// @param    value        STRING = ''     label of a value, with its tuple index; by default the one
//           made last of the shape that takes most of the peak
// @param    memorySpace  INTEGER = 0     number of the memory space whose peak it is
// @param    limit        INTEGER = 1000  rows to return
// @column   value        STRING          name of the value, with its tuple index
// @column   other        STRING          a value of the same shape, live beside it in other bytes
// @column   sizeBytes    INTEGER         assigned size of the value, padding included
// @column   overlapFrom  INTEGER         first step in which both are live
// @column   overlapUntil INTEGER         last step in which both are live, inclusive
// @column   overlapBy    STRING          the instruction of that first step: it makes the later one
// @column   overlapByFile STRING          file of your line that it comes from
// @column   overlapByLine INTEGER         that line
// @column   earlier      STRING          the one live first: to share its bytes, it would have to end
//           before overlapFrom
// @column   keptBy       STRING          last reader of the earlier one: before it the later one
//           cannot take its bytes; null if it is read no more when the later one is made
// @column   keptByStep   INTEGER         its place in the schedule
// @column   keptByFile   STRING          file of your line that the reader comes from
// @column   keptByLine   INTEGER         that line
// @column   rangeEnd     STRING          why the live range of the earlier one ends: overwritten,
//           output, parameter, constant, end, unread, lastUse, kept or handedOn
// @column   shape        STRING          shape of both, without layout
// @column   opcode       STRING          opcode of the instruction that makes it
// @column   opName       STRING          op name of that instruction, as the framework set it
// @column   sourceFile   STRING          source file of that instruction
// @column   sourceLine   INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile     STRING          file of the innermost line outside of installed packages
// @column   userLine     INTEGER         that line
// @measure  assigned, physical
// @note     Values of another memory space are left out, those that lie in the same bytes, and those
//           that end in the step in which one of that shape overwrites them: that has a row. The earlier one is the one that is live first.
// @note     By default, of the arrays with bytes of their own at the peak, the shape that takes
//           most and has two or more; all of them are live when the last is made.
// @empty    no value of the same shape is live beside it in other bytes
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE ($value = '' AND a.memorySpace = $memorySpace AND NOT v.dtype IN ['tuple', 'token', 'opaque'])
      OR v.label = $value
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v, p WHERE v.label = $value OR p.physicalBytes > 0
WITH v.shape AS shape, count(v) AS alike, sum(p.physicalBytes) AS share, max(v.liveFrom) AS madeAt
WHERE $value <> '' OR alike > 1
// long: the shape, the one made last, its equals and their last readers are walks of their own
WITH shape, share, madeAt ORDER BY share DESC, shape LIMIT 1
MATCH (:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.label = $value OR ($value = '' AND a.memorySpace = $memorySpace AND v.shape = shape
                           AND v.liveFrom = madeAt)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v, p WHERE v.label = $value OR p.physicalBytes > 0
WITH v ORDER BY v.label LIMIT 1
MATCH (:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(w:Value)
WHERE w.shape = v.shape AND w.key <> v.key AND w.memorySpace = v.memorySpace
      AND v.sizeBytes > 0 AND w.sizeBytes > 0
      AND w.liveFrom <= v.liveUntil AND v.liveFrom <= w.liveUntil
      AND (w.allocation <> v.allocation OR w.offsetBytes >= v.offsetBytes + v.sizeBytes
           OR v.offsetBytes >= w.offsetBytes + w.sizeBytes)
      AND (w.liveUntil > v.liveFrom OR NOT EXISTS {
           MATCH (x:Value)-[:UPDATES_IN_PLACE]->(w)
           WHERE x.shape = w.shape AND x.key <> v.key AND x.liveFrom = w.liveUntil })
WITH v, w, CASE WHEN w.liveFrom > v.liveFrom THEN w.liveFrom ELSE v.liveFrom END AS overlapFrom,
     w.liveFrom < v.liveFrom OR (w.liveFrom = v.liveFrom AND w.valueId < v.valueId) AS isOlder
WITH v, w, overlapFrom, CASE WHEN isOlder THEN w.key ELSE v.key END AS earlierKey,
     CASE WHEN isOlder THEN v.key ELSE w.key END AS laterKey
OPTIONAL MATCH (e:Value {key: earlierKey})
OPTIONAL MATCH (e)-[:USED_BY]->(r:Instruction)
WHERE r.step = e.lastUse AND r.step >= overlapFrom
WITH DISTINCT v, w, overlapFrom, e, r, laterKey
OPTIONAL MATCH (r)-[:DEFINES]->(n:Value)
WITH v, w, overlapFrom, e, r, laterKey, min(n.valueId) AS firstMade
OPTIONAL MATCH (r)-[:DEFINES]->(m:Value) WHERE m.valueId = firstMade
RETURN v.label AS value, w.label AS other, v.sizeBytes AS sizeBytes, overlapFrom,
       CASE WHEN w.liveUntil < v.liveUntil THEN w.liveUntil ELSE v.liveUntil END AS overlapUntil,
       CASE WHEN laterKey = v.key THEN v.name ELSE w.name END AS overlapBy,
       CASE WHEN laterKey = v.key THEN v.userFile ELSE w.userFile END AS overlapByFile,
       CASE WHEN laterKey = v.key THEN v.userLine ELSE w.userLine END AS overlapByLine,
       e.label AS earlier, r.name AS keptBy, r.step AS keptByStep,
       coalesce(m.userFile, r.sourceFile) AS keptByFile,
       CASE WHEN m.userFile IS NULL THEN r.sourceLine ELSE m.userLine END AS keptByLine,
       e.rangeEnd AS rangeEnd, v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY overlapFrom, other
LIMIT $limit
