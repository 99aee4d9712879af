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
// @column   opcode          STRING          opcode of the instruction that makes the input
// @column   opName          STRING          op name of that instruction, as the framework set it
// @column   sourceFile      STRING          source file of that instruction
// @column   sourceLine      INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile        STRING          file of the innermost line outside of installed
//           packages
// @column   userLine        INTEGER         that line
// @column   outputOpcode    STRING          opcode of the output
// @column   outputOpName    STRING          its op name
// @measure  assigned
// @note     A donated input is a parameter whose allocation is live-out; it is the first that
//           lives there. (Values of a loop that carries it have smaller ids.)
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.parameterNumber IS NOT NULL AND a.maybeLiveOut = true
      AND NOT EXISTS {
        MATCH (a)-[:HOLDS]->(x:Value)
        WHERE x.liveFrom < v.liveFrom
              OR (coalesce(x.liveFrom, 0) = coalesce(v.liveFrom, 0) AND x.valueId < v.valueId)
      }
OPTIONAL MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.liveUntil = c.scheduleLength AND w.key <> v.key
RETURN a.parameterNumber AS parameterNumber, a.shapeIndex AS shapeIndex, v.label AS value,
       v.shape AS shape, v.sizeBytes AS sizeBytes, w.label AS output,
       w.aliasSet = v.aliasSet AS inPlace, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       w.opcode AS outputOpcode, w.opName AS outputOpName
ORDER BY sizeBytes DESC, parameterNumber, shapeIndex, output
LIMIT $limit
