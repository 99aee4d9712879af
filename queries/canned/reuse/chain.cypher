// Values that reuse a value's bytes, directly or indirectly
// @kind     table
// @answers  Which values use the bytes of this value after it?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          value label with its tuple index: fusion.7, while.1{1}
// @param    limit       INTEGER = 1000  rows to return
// @column   value       STRING          name of the value, with its tuple index
// @column   sharedBytes INTEGER         bytes common to both values
// @column   sizeBytes   INTEGER         assigned size, including padding
// @column   liveFrom    INTEGER         first step of the live range
// @column   liveUntil   INTEGER         last step of the live range, inclusive
// @column   inPlace     BOOLEAN         true if connected by in-place updates only
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that produces the value
// @column   opName      STRING          op name of that instruction, as set by the framework
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING          file of the innermost line outside installed packages
// @column   userLine    INTEGER         line in that file
// @shown    value sharedBytes sizeBytes userFile attributedOpName
// @measure  shared
// @note     Rows are values later in the order (liveFrom, liveUntil, valueId), in the same
//           allocation, that share at least a byte with it. A value without a live range is not in
//           that order.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[h:HOLDS]->(v:Value)
// select the value first: Neo4j would read all values of the graph
WITH DISTINCT a, h, v WHERE v.label = $value
OPTIONAL MATCH (a)-[g:HOLDS]->(w:Value)
WITH g, h, v, w
WHERE v.sizeBytes > 0 AND w.sizeBytes > 0
      AND g.offsetBytes < h.offsetBytes + h.sizeBytes
      AND h.offsetBytes < g.offsetBytes + g.sizeBytes
      AND (w.liveFrom > v.liveFrom
           OR (w.liveFrom = v.liveFrom AND w.liveUntil > v.liveUntil)
           OR (w.liveFrom = v.liveFrom AND w.liveUntil = v.liveUntil AND w.valueId > v.valueId))
WITH v, w,
     CASE WHEN g.offsetBytes > h.offsetBytes THEN g.offsetBytes ELSE h.offsetBytes END AS first,
     CASE WHEN g.offsetBytes + g.sizeBytes < h.offsetBytes + h.sizeBytes
          THEN g.offsetBytes + g.sizeBytes ELSE h.offsetBytes + h.sizeBytes END AS past
WHERE w.key IS NOT NULL
RETURN w.label AS value, past - first AS sharedBytes, w.sizeBytes AS sizeBytes,
       w.liveFrom AS liveFrom, w.liveUntil AS liveUntil, w.aliasSet = v.aliasSet AS inPlace,
       w.shape AS shape, w.opcode AS opcode, w.opName AS opName,
       w.sourceFile AS sourceFile, w.sourceLine AS sourceLine,
       w.attributedOpName AS attributedOpName, w.userFile AS userFile, w.userLine AS userLine
ORDER BY liveFrom, liveUntil, w.valueId
LIMIT $limit
