// Values that share the storage of one by aliasing, from first to last
// @kind     table
// @answers  Which values share the storage of this one by aliasing, from first to last?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          label of a value, with its tuple index: fusion.7,
//           while.1{1}
// @param    limit       INTEGER = 1000  rows to return
// @column   position    INTEGER         place in the chain, from 0
// @column   value       STRING          name of the value, with its tuple index
// @column   sizeBytes   INTEGER         assigned size, padding included
// @column   liveFrom    INTEGER         first step in which it is needed
// @column   liveUntil   INTEGER         last step in which it is needed, inclusive
// @column   instruction STRING          the one that makes it
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that makes it
// @column   opName      STRING          op name of that instruction, as the framework set it
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile    STRING          file of the innermost line outside of installed packages
// @column   userLine    INTEGER         that line
// @measure  assigned
// @note     The value itself is one of them; where nothing aliases it, it stands alone.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// the one value first: Neo4j would pair all values of the allocation
WITH DISTINCT a, v WHERE v.label = $value
MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.aliasSet = v.aliasSet
RETURN w.aliasPosition AS position, w.label AS value, w.sizeBytes AS sizeBytes,
       w.liveFrom AS liveFrom, w.liveUntil AS liveUntil, w.name AS instruction,
       w.shape AS shape, w.opcode AS opcode, w.opName AS opName,
       w.sourceFile AS sourceFile, w.sourceLine AS sourceLine,
       w.attributedOpName AS attributedOpName, w.userFile AS userFile, w.userLine AS userLine
ORDER BY position, value
LIMIT $limit
