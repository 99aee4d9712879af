// Copies, the values they copy and the instructions that need them
// @kind     table
// @answers  Where did this copy come from?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the copy, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   copied        STRING        value that is copied
// @column   copiedFrom    STRING        instruction that makes the copied value
// @column   copiedOpcode  STRING        opcode of that instruction
// @column   usedBy        STRING        first instruction in the schedule that uses the copy
// @column   neededBy      STRING        first instruction that computes with the copy, ignoring
//           copy-done, tuple and similar
// @column   users         INTEGER       number of instructions that use the copy
// @column   reason        STRING        transfer to another memory space, layout change, read later
//           (by forcedBy), input is kept (for the caller), constant is kept, or loop state
// @column   forcedBy      STRING        last reader that requires the old value and so forces the
//           copy; null if a caller or a loop requires it
// @column   forcedByFile  STRING        source file of your line that forcedBy comes from
// @column   forcedByLine  INTEGER       line in that file
// @column   originalLive  BOOLEAN       true if the copied value is live after the copy, so that
//           both occupy memory
// @column   ofLoop        BOOLEAN       true if the copied value or the copy is loop state
// @column   ofParameter   BOOLEAN       true if an entry parameter is copied
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   memorySpace   INTEGER       memory space of the copy
// @column   peakCopyBytes INTEGER       share of the physical peak, if the original also occupies
//           the memory space at that step or is overwritten loop state; otherwise null
// @column   memorySpaceName STRING        such as HBM or VMEM; null where XLA has none
// @shown    value sizeBytes userFile reason forcedBy physicalBytes peakCopyBytes attributedOpName
// @measure  assigned, physical
// @note     For a copy-start, the copy is its target, element {0}.
// @empty    no instruction copies a value
// @advice   peakCopyBytes physical Copies lie at the peak next to what they copy
// @change   without
// @evidence value copied shape ofLoop ofParameter neededBy forcedBy attributedOpName userFile userLine
// @remedy   jax         Do not read the old value after it is updated: donate the initial state of
//           a loop (donate_argnums), return only the new carry of jax.lax.scan and while_loop, and
//           use x.at[...].set(...) as the last reader of x.
// @remedy   tensorflow  Do not read the old value after it is updated: keep state that a
//           tf.while_loop changes in tf.Variable, and return only the new loop variables.
// @remedy   pytorch     Do not read the old value after it is updated: use in-place ops and drop
//           views and clones of the tensor before torch_xla.sync() (xm.mark_step()).
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE v.opcode = 'copy' OR (v.opcode = 'copy-start' AND v.shapeIndex = '{0}')
// long: who needs a copy and who forces it are separate walks, which no property stores
MATCH (v)<-[:DEFINES]-(i:Instruction)
WITH v, i ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
OPTIONAL MATCH (v)-[:USED_BY]->(u:Instruction)
WITH v, i, count(DISTINCT u.name) AS users, min(u.step) AS firstStep,
     max(CASE WHEN u.opcode = 'while' THEN 1 ELSE 0 END) AS inLoops
OPTIONAL MATCH (v)-[:USED_BY]->(n:Instruction)-[:DEFINES]->(:Value)
WHERE n.opcode <> 'tuple' AND n.step IS NOT NULL
WITH v, i, users, firstStep, inLoops, min(n.step) AS neededStep
OPTIONAL MATCH (v)-[:USED_BY]->(f:Instruction)
WITH v, i, users, inLoops, min(CASE WHEN f.step = firstStep THEN f.name ELSE null END) AS usedBy,
     min(CASE WHEN f.step = neededStep THEN f.name ELSE null END) AS neededBy
OPTIONAL MATCH (o:Value)-[x:USED_BY]->(i) WHERE x.operandIndex IS NULL OR x.operandIndex = '{}'
OPTIONAL MATCH (b:Allocation)-[:HOLDS]->(o)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
OPTIONAL MATCH (o)-[h:LIVE_AT_PEAK]->(:MemorySpace)
OPTIONAL MATCH (o)<-[:UPDATES_IN_PLACE]-(w:Value)
WITH v, p, o, b, usedBy, neededBy, users, o.liveUntil > v.liveFrom AS originalLive,
     inLoops = 1 OR o.isPhi AS ofLoop,
     h.physicalBytes IS NOT NULL OR w.key IS NOT NULL AS heldToo
// the old value is the copied value, or the copy if the copied value ends there
WITH DISTINCT v, p, o, b, usedBy, neededBy, users, originalLive, ofLoop, heldToo,
     CASE WHEN originalLive THEN o.key ELSE v.key END AS oldKey
OPTIONAL MATCH (:Value {key: oldKey})-[:USED_BY]->(q:Instruction)
WHERE q.step > v.liveFrom
      AND NOT q.opcode IN ['copy', 'copy-start', 'copy-done', 'tuple', 'get-tuple-element',
                           'bitcast', 'while', 'call', 'conditional']
WITH v, p, o, b, usedBy, neededBy, users, originalLive, ofLoop, heldToo, oldKey,
     max(q.step) AS readStep
OPTIONAL MATCH (:Value {key: oldKey})-[:USED_BY]->(q:Instruction) WHERE q.step = readStep
OPTIONAL MATCH (q)-[:DEFINES]->(m:Value)
WITH v, p, o, b, usedBy, neededBy, users, originalLive, ofLoop, heldToo,
     min(q.name) AS forcedBy, min(coalesce(m.userFile, q.sourceFile)) AS forcedByFile,
     min(CASE WHEN m.userFile IS NULL THEN q.sourceLine ELSE m.userLine END) AS forcedByLine
MATCH (:Compilation {key: $compilation})-[:USES_SPACE]->(s:MemorySpace)
WHERE s.color = v.memorySpace
RETURN DISTINCT v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       o.label AS copied, o.name AS copiedFrom, o.opcode AS copiedOpcode,
       usedBy, neededBy, users,
       CASE WHEN o.memorySpace <> v.memorySpace THEN 'transfer'
            WHEN o.shape = v.shape AND coalesce(o.layout, '') <> coalesce(v.layout, '')
            THEN 'layout change'
            WHEN forcedBy IS NOT NULL THEN 'read later'
            WHEN originalLive AND o.opcode = 'constant' THEN 'constant is kept'
            WHEN originalLive AND o.opcode = 'parameter' AND b.parameterNumber IS NOT NULL
            THEN 'input is kept'
            WHEN ofLoop THEN 'loop state' ELSE null END AS reason,
       forcedBy, forcedByFile, forcedByLine, originalLive, ofLoop,
       b.parameterNumber IS NOT NULL AND o.opcode = 'parameter' AS ofParameter,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       v.memorySpace AS memorySpace,
       CASE WHEN o.memorySpace = v.memorySpace AND heldToo AND (originalLive OR ofLoop)
            THEN p.physicalBytes ELSE null END AS peakCopyBytes,
       s.name AS memorySpaceName
ORDER BY sizeBytes DESC, value, copied
LIMIT $limit
