// Donated inputs and what takes their place
// @kind     table
// @answers  Which donated inputs are really updated in place, by what?
// @param    compilation     STRING          key of a compilation, or a unique part of it
// @param    limit           INTEGER = 1000  rows to return
// @column   parameterNumber INTEGER         number of the entry parameter
// @column   shapeIndex      STRING          place within that parameter, in braces
// @column   value           STRING          the value that the parameter is
// @column   shape           STRING          shape, without layout
// @column   sizeBytes       INTEGER         assigned size, padding included
// @column   output          STRING          the value that lies there at the end; null if the
//           input is returned as it is
// @column   inPlace         BOOLEAN         it got there by in-place updates alone, no step between
// @column   opcode          STRING          opcode of the output
// @column   opName          STRING          its op name, as the framework set it
// @column   sourceFile      STRING          source file of that instruction
// @column   sourceLine      INTEGER         line in that file
// @measure  assigned
// @note     A donated input is a parameter whose allocation is live-out.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.parameterNumber IS NOT NULL AND a.maybeLiveOut = true
      AND NOT EXISTS { MATCH (a)-[:HOLDS]->(x:Value) WHERE x.valueId < v.valueId }
OPTIONAL MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.liveUntil = c.scheduleLength AND w.valueId > v.valueId
RETURN a.parameterNumber AS parameterNumber, a.shapeIndex AS shapeIndex, v.label AS value,
       v.shape AS shape, v.sizeBytes AS sizeBytes, w.label AS output,
       w.aliasSet = v.aliasSet AS inPlace, w.opcode AS opcode, w.opName AS opName,
       w.sourceFile AS sourceFile, w.sourceLine AS sourceLine
ORDER BY sizeBytes DESC, parameterNumber, shapeIndex, output
LIMIT $limit
