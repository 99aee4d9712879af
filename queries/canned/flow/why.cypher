// Readers of a value, and why each needs it in memory
// @kind     table
// @answers  Why is this value in memory? Which readers cannot be fused with it?
// @param    compilation  STRING          key of a compilation, or a unique part of it
// @param    value        STRING = ''     value label with its tuple index; by default the value
//           with the largest share of the peak
// @param    memorySpace  INTEGER = 0     memory space number
// @param    limit        INTEGER = 1000  rows to return
// @column   value        STRING          name of the value, with its tuple index
// @column   sizeBytes    INTEGER         assigned size, including padding
// @column   reason       STRING          library call, sort, collective, loop boundary, transfer,
//           layout change, copy, padding, scatter, update in place, several readers, result, input
//           or constant; null if this reader does not require the value in memory
// @column   reader       STRING          instruction that reads the value; null in a row about the
//           value itself
// @column   readerOpcode STRING          opcode of the reader
// @column   readerTarget STRING          target, if the reader is a custom call
// @column   readerStep   INTEGER         step of the reader
// @column   readerFile   STRING          source file of your line that the reader comes from
// @column   readerLine   INTEGER         line in that file
// @column   turnBytes    INTEGER         for a stack: bytes that one iteration writes
// @column   stackTurns   INTEGER         for a stack: number of iterations whose results it
//           contains
// @column   stackLoop    STRING          for a stack: the loop that fills it
// @column   shape        STRING          shape, without layout
// @column   opcode       STRING          opcode of the instruction that produces the value
// @column   opName       STRING          op name of that instruction, as set by the framework
// @column   sourceFile   STRING          source file of that instruction
// @column   sourceLine   INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile     STRING          file of the innermost line outside installed packages
// @column   userLine     INTEGER         line in that file
// @shown    value sizeBytes userFile reason turnBytes attributedOpName
// @measure  assigned, physical
// @note     There is one row for each reader, by step, with the first reason that applies; then one
//           row about the value itself, if it is a result, loop state, an input or a constant, or
//           has no reader.
// @note     Readers are scheduled instructions; tuple, get-tuple-element, bitcast and similar only
//           pass the value on.
// @note     library call: custom-call, a fusion of kind kCustom, dot, convolution, fft and similar.
//           loop boundary: while, conditional, call, async-start. transfer: to another memory space
//           or out of the program. several readers: each would have to recompute it.
//           padding: an instruction of its own, with which XLA fused nothing. scatter, update in
//           place: such an instruction, or a fusion with one that overwrites the value.
// @note     The instruction that produces the value may be the reason too: loops, collectives and
//           library calls write their results to memory. See opcode.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE $value = '' OR v.label = $value
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH c, a, v, p
WHERE v.label = $value OR (a.memorySpace = $memorySpace AND p.physicalBytes IS NOT NULL)
// long: the readers are walked twice, to count them and to name the reason of each
WITH c, a, v, c.scheduleLength IS NULL AS isUnscheduled, p.physicalBytes AS share
ORDER BY share DESC, v.label LIMIT 1
OPTIONAL MATCH (v)-[:USED_BY]->(u:Instruction)
WITH c, a, v, isUnscheduled,
     count(DISTINCT CASE WHEN u.opcode IN ['tuple', 'get-tuple-element', 'bitcast', 'opt-barrier',
                                           'add-dependency'] THEN null
                         WHEN u.step IS NOT NULL OR isUnscheduled THEN u.name
                         ELSE null END) AS readers
UNWIND ['reader', 'value'] AS about
OPTIONAL MATCH (v)-[:USED_BY]->(i:Instruction)
WHERE about = 'reader' AND (i.step IS NOT NULL OR isUnscheduled)
      AND NOT coalesce(i.opcode, '') IN ['tuple', 'get-tuple-element', 'bitcast', 'opt-barrier',
                                         'add-dependency']
OPTIONAL MATCH (i)-[:DEFINES]->(n:Value)
OPTIONAL MATCH (n)-[u:UPDATES_IN_PLACE]->(v)
WITH c, a, v, isUnscheduled, readers, about, i, min(n.valueId) AS firstMade,
     count(u) > 0 AS isOverwritten
OPTIONAL MATCH (i)-[:DEFINES]->(m:Value) WHERE m.valueId = firstMade
WITH v, readers, about, i, m,
     CASE WHEN isOverwritten THEN coalesce(i.fusedOpcodes, []) ELSE [] END AS updatedBy,
     CASE WHEN a.maybeLiveOut = true AND (v.liveUntil = c.scheduleLength
               OR (isUnscheduled AND a.parameterNumber IS NULL)) THEN 'result'
          WHEN v.isPhi = true THEN 'loop boundary'
          WHEN v.opcode = 'parameter' AND a.role = 'parameter' THEN 'input'
          WHEN a.role = 'constant' THEN 'constant' ELSE null END AS ownReason
WHERE i.name IS NOT NULL OR (about = 'value' AND (ownReason IS NOT NULL OR readers = 0))
RETURN v.label AS value, v.sizeBytes AS sizeBytes,
       CASE WHEN about = 'value' THEN ownReason
            WHEN i.opcode IN ['sort', 'topk'] OR i.target CONTAINS 'Sort'
                 OR i.target CONTAINS 'TopK' THEN 'sort'
            WHEN i.opcode IN ['custom-call', 'dot', 'ragged-dot', 'scaled-dot', 'convolution',
                              'fft', 'cholesky', 'triangular-solve']
                 OR i.text CONTAINS ' kind=kCustom' THEN 'library call'
            WHEN i.opcode STARTS WITH 'all-' OR i.opcode STARTS WITH 'collective-'
                 OR i.opcode STARTS WITH 'reduce-scatter'
                 OR i.opcode STARTS WITH 'ragged-all-to-all' THEN 'collective'
            WHEN i.opcode IN ['while', 'conditional', 'call', 'async-start'] THEN 'loop boundary'
            WHEN i.opcode IN ['copy-start', 'copy-done', 'send', 'outfeed']
                 OR (i.opcode = 'copy' AND m.memorySpace <> v.memorySpace) THEN 'transfer'
            WHEN i.opcode = 'copy' AND m.shape = v.shape
                 AND coalesce(m.layout, '') = coalesce(v.layout, '') THEN 'copy'
            WHEN i.opcode IN ['copy', 'transpose', 'bitcast-convert'] THEN 'layout change'
            WHEN i.opcode = 'pad' THEN 'padding'
            WHEN i.opcode IN ['scatter', 'select-and-scatter'] OR 'scatter' IN updatedBy
                 THEN 'scatter'
            WHEN i.opcode = 'dynamic-update-slice' OR 'dynamic-update-slice' IN updatedBy
                 THEN 'update in place'
            // loop state cannot be recomputed at its readers
            WHEN readers > 1 AND NOT coalesce(v.isPhi, false) THEN 'several readers' ELSE null END AS reason,
       i.name AS reader, i.opcode AS readerOpcode, i.target AS readerTarget,
       i.step AS readerStep, coalesce(m.userFile, i.sourceFile) AS readerFile,
       CASE WHEN m.userFile IS NULL THEN i.sourceLine ELSE m.userLine END AS readerLine,
       v.turnBytes AS turnBytes, v.stackTurns AS stackTurns, v.stackLoop AS stackLoop,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY readerStep, reader
LIMIT $limit
