// Equal values that are live at the same time as a value, and why they are kept
// @kind     table
// @answers  Why do these equal values not share one buffer?
// @param    compilation  STRING          key of a compilation, or a unique part of it
// @param    value        STRING = ''     value label with its tuple index; by default the last
//           value made of the shape with the largest share of the peak
// @param    memorySpace  INTEGER = 0     memory space number
// @param    limit        INTEGER = 1000  rows to return
// @column   value        STRING          name of the value, with its tuple index
// @column   other        STRING          value of the same shape that is live at the same time in
//           other bytes
// @column   sizeBytes    INTEGER         assigned size of the value, including padding
// @column   overlapFrom  INTEGER         first step at which both are live
// @column   overlapUntil INTEGER         last step at which both are live, inclusive
// @column   overlapBy    STRING          instruction at overlapFrom, which makes the later value
// @column   overlapByFile STRING          source file of your line that overlapBy comes from
// @column   overlapByLine INTEGER         line in that file
// @column   earlier      STRING          the value that is live first; to share its bytes, it must
//           end before overlapFrom
// @column   keptBy       STRING          last reader of the earlier value, before which its bytes
//           cannot be reused; null if that value is no longer read when the later one is made
// @column   keptByStep   INTEGER         step of that reader
// @column   keptByFile   STRING          source file of your line that the reader comes from
// @column   keptByLine   INTEGER         line in that file
// @column   rangeEnd     STRING          why the earlier value's live range ends:
//           overwritten, output, parameter, constant, end, unread, lastUse, kept or handedOn
// @column   shape        STRING          shape of both, without layout
// @column   opcode       STRING          opcode of the instruction that produces the value
// @column   opName       STRING          op name of that instruction, as set by the framework
// @column   sourceFile   STRING          source file of that instruction
// @column   sourceLine   INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile     STRING          file of the innermost line outside installed packages
// @column   userLine     INTEGER         line in that file
// @shown    value other keptBy sizeBytes userFile attributedOpName
// @measure  assigned, physical
// @note     Excluded are values of another memory space, values in the same bytes, and values that
//           end at the step at which one of that shape overwrites them; that one has a row.
// @note     By default the shape is the one with the largest peak share among those of two
//           or more arrays that occupy bytes there; all of these are live when the last is made.
// @empty    no value of the same shape is live at the same time in other bytes
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE ($value = '' AND a.memorySpace = $memorySpace AND NOT v.dtype IN ['tuple', 'token', 'opaque'])
      OR v.label = $value
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v, p WHERE v.label = $value OR p.physicalBytes > 0
WITH v.shape AS shape, count(v) AS alike, sum(p.physicalBytes) AS share, max(v.liveFrom) AS madeAt
WHERE $value <> '' OR alike > 1
// long: the shape, its last value, equal values and their last readers are separate walks
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
