// Temporaries with a single reader
// @kind     table
// @answers  Which large intermediates have one reader, and could have been fused?
// @param    compilation    STRING        key of a compilation, or a unique part of it
// @param    limit          INTEGER = 20  rows to return
// @column   value          STRING        name of the value, with its tuple index
// @column   sizeBytes      INTEGER       assigned size, including padding
// @column   physicalBytes  INTEGER       share of the physical peak; null if not live at that peak
// @column   producer       STRING        instruction that produces the value
// @column   consumer       STRING        the only instruction that reads the value
// @column   consumerOpcode STRING        opcode of the consumer
// @column   shape          STRING        shape, without layout
// @column   opcode         STRING        opcode of the instruction that produces the value
// @column   opName         STRING        op name of that instruction, as set by the framework
// @column   sourceFile     STRING        source file of that instruction
// @column   sourceLine     INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile       STRING        file of the innermost line outside installed packages
// @column   userLine       INTEGER       line in that file
// @shown    value sizeBytes userFile physicalBytes attributedOpName
// @measure  assigned, physical
// @note     An intermediate is a value in a temp block, or in an output's buffer with a live
//           range that ends before the program does. A loop's next state is not one, because
//           it must be kept.
// @note     Readers are users that make a new value; tuple, get-tuple-element, bitcast and similar
//           only pass the value on.
// @note     A value is excluded if its producer or consumer is a library call, control flow, a
//           collective or anything else that XLA never fuses. A fusion that is possible is not
//           always better.
// @empty    no temporary has one reader with which it could have been fused
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(:Value)<-[:DEFINES]-(u:Instruction)
WHERE u.opcode IS NULL OR u.opcode <> 'tuple'
WITH DISTINCT c, u
// OPTIONAL: for a MATCH the embedded engine would read every use of the graph
OPTIONAL MATCH (u)<-[:USED_BY]-(v:Value)
WITH c, v, min(u.name) AS consumer, max(u.name) AS otherConsumer, min(u.opcode) AS consumerOpcode
WHERE v.key IS NOT NULL AND consumer = otherConsumer AND v.sizeBytes > 0 AND v.isPhi = false
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
      AND NOT v.opcode IN ['custom-call', 'while', 'conditional', 'call', 'sort', 'fft', 'scatter',
                           'cholesky', 'triangular-solve', 'rng-bit-generator', 'infeed', 'recv',
                           'all-reduce', 'all-gather', 'all-to-all', 'reduce-scatter',
                           'collective-permute', 'collective-broadcast', 'ragged-all-to-all',
                           'parameter', 'constant']
      AND NOT v.opcode ENDS WITH '-start' AND NOT v.opcode ENDS WITH '-done'
      AND NOT consumerOpcode IN ['custom-call', 'while', 'conditional', 'call', 'sort', 'fft',
                                 'cholesky', 'triangular-solve', 'outfeed', 'send',
                                 'all-reduce', 'all-gather', 'all-to-all', 'reduce-scatter',
                                 'collective-permute', 'collective-broadcast',
                                 'ragged-all-to-all']
      AND NOT consumerOpcode ENDS WITH '-start' AND NOT consumerOpcode ENDS WITH '-done'
OPTIONAL MATCH (v)<-[:HOLDS]-(a:Allocation)
OPTIONAL MATCH (v)<-[:UPDATES_IN_PLACE]-(n:Value)
WITH c, v, a, consumer, consumerOpcode, sum(CASE WHEN n.isPhi THEN 1 ELSE 0 END) AS nextStates
WHERE nextStates = 0 AND (a.role = 'temp' OR v.liveUntil < c.scheduleLength)
WITH v.key AS valueKey, consumer, consumerOpcode
ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (v:Value {key: valueKey})
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       v.name AS producer, consumer, consumerOpcode,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
