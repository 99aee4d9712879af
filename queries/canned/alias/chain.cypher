// Values that share a value's storage by aliasing, from first to last
// @kind     table
// @answers  Which values share the storage of this value by aliasing, from first to last?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          value label with its tuple index: fusion.7, while.1{1}
// @param    limit       INTEGER = 1000  rows to return
// @column   position    INTEGER         position in the chain, from 0
// @column   value       STRING          name of the value, with its tuple index
// @column   sizeBytes   INTEGER         assigned size, including padding
// @column   liveFrom    INTEGER         first step of the live range
// @column   liveUntil   INTEGER         last step of the live range, inclusive
// @column   instruction STRING          instruction that produces the value
// @column   turnBytes   INTEGER         for a stack: bytes that one iteration writes
// @column   stackTurns  INTEGER         for a stack: number of iterations whose results it contains
// @column   stackLoop   STRING          for a stack: the loop that fills it
// @column   stackElement STRING         for a stack: instruction in the loop body whose result each
//           iteration writes; null if computed by the write itself
// @column   loop        STRING          innermost loop that produces the value in each iteration
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that produces the value
// @column   opName      STRING          op name of that instruction, as set by the framework
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING          file of the innermost line outside installed packages
// @column   userLine    INTEGER         line in that file
// @shown    position value sizeBytes turnBytes userFile attributedOpName
// @measure  assigned
// @note     A stack is loop state that the iterations fill part by part: what jax.lax.scan returns,
//           or saves from the forward pass. It is attributed to the op in the loop body that makes
//           the part, not to the loop.
// @note     The value itself is included; it is the only row if nothing aliases it.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
// select the value first: Neo4j would pair all values of the allocation
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
