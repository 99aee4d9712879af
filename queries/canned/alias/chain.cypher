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
// @column   turnBytes   INTEGER         of a stack that a loop fills: bytes of one turn's part
// @column   stackTurns  INTEGER         of a stack: how many turns it has parts of
// @column   stackLoop   STRING          of a stack: the loop that fills it
// @column   stackElement STRING         of a stack: the instruction in the body whose result a turn
//           writes; null if it is computed where it is written
// @column   loop        STRING          innermost loop whose every turn makes it again
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
// @note     A stack is the state of a loop that its turns fill part by part: what jax.lax.scan
//           returns, or keeps of the forward pass. It belongs to the op in the body that makes the
//           part, not to the loop.
// @note     The value itself is one of them; where nothing aliases it, it stands alone.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// the one value first: Neo4j would pair all values of the allocation
WITH DISTINCT a, v WHERE v.label = $value
MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.aliasSet = v.aliasSet
OPTIONAL MATCH (i:Instruction)-[:DEFINES]->(w)
RETURN w.aliasPosition AS position, w.label AS value, w.sizeBytes AS sizeBytes,
       w.liveFrom AS liveFrom, w.liveUntil AS liveUntil, w.name AS instruction,
       w.turnBytes AS turnBytes, w.stackTurns AS stackTurns, w.stackLoop AS stackLoop,
       w.stackElement AS stackElement, i.loop AS loop, w.shape AS shape, w.opcode AS opcode, w.opName AS opName,
       w.sourceFile AS sourceFile, w.sourceLine AS sourceLine,
       w.attributedOpName AS attributedOpName, w.userFile AS userFile, w.userLine AS userLine
ORDER BY position, value
LIMIT $limit
