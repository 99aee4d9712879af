// Donated inputs and the values that replace them
// @kind     table
// @answers  What happened to each donated input, and why?
// @param    compilation     STRING          key of a compilation, or a unique part of it
// @param    limit           INTEGER = 1000  rows to return
// @column   parameterNumber INTEGER         entry parameter number
// @column   shapeIndex      STRING          tuple index in that parameter, in braces
// @column   value           STRING          value of the parameter
// @column   shape           STRING          shape, without layout
// @column   sizeBytes       INTEGER         assigned size, including padding
// @column   outcome         STRING          in place (the output uses the input's bytes without a
//           copy), copied first, or never used
// @column   reason          STRING          reason why the update is not in place; null if it is
// @column   by              STRING          next value to reuse the bytes; null if none
// @column   copy            STRING          copy that preserves the old value or writes the new one
// @column   reader          STRING          last instruction that reads the old value and so
//           prevents the in-place update; null if the caller does
// @column   readerFile      STRING          source file of your line that the reader comes from
// @column   readerLine      INTEGER         line in that file
// @column   output          STRING          value that occupies the bytes at the end; null if the
//           input is returned unchanged
// @column   inPlace         BOOLEAN         true if only in-place updates lead from the input to
//           the output, with no gap
// @column   opcode          STRING          opcode of the instruction that makes the input
// @column   opName          STRING          op name of that instruction, as set by the framework
// @column   sourceFile      STRING          source file of that instruction
// @column   sourceLine      INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile        STRING          file of the innermost line outside installed packages
// @column   userLine        INTEGER         line in that file
// @column   outputOpcode    STRING          opcode of the output
// @column   outputOpName    STRING          op name of the output
// @shown    parameterNumber value outcome reason sizeBytes attributedOpName userFile … shapeIndex
// @measure  assigned
// @note     A donated input is a parameter that the module text marks as donated, or whose
//           allocation is live-out. The row is about the first value in that allocation.
// @note     XLA pairs a donated input with an output of the same size: each output takes one input,
//           and each input donates its bytes to one output. If the program also returns the old
//           value as another output, that output is a copy.
// @note     A donation that the framework drops is not in the dump: JAX drops the donation of an
//           argument if no output has its shape and type, and warns.
// @empty    nothing is donated in this compilation; alias/not-donated lists inputs that could be
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(b:Allocation)-[:HOLDS]->(o:Value)
WHERE b.maybeLiveOut = true AND o.liveUntil = c.scheduleLength
// long: outputs, the copy, its last reader and the next value are separate walks
WITH c, o.sizeBytes AS sizeBytes, o.dtype AS dtype, count(o) AS outputCount,
     count(b.parameterNumber) AS takenCount
WITH c, collect({sizeBytes: sizeBytes, dtype: dtype, outputCount: outputCount,
                 takenCount: takenCount}) AS outputs
MATCH (c)-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.parameterNumber IS NOT NULL AND (a.maybeLiveOut = true OR a.donation IS NOT NULL)
      AND NOT EXISTS {
        MATCH (a)-[:HOLDS]->(x:Value)
        WHERE x.liveFrom < v.liveFrom
              OR (coalesce(x.liveFrom, 0) = coalesce(v.liveFrom, 0) AND x.valueId < v.valueId)
      }
UNWIND outputs AS candidate
WITH c, a, v,
     sum(CASE WHEN candidate.sizeBytes = v.sizeBytes AND candidate.dtype = v.dtype
              THEN candidate.outputCount ELSE 0 END) AS fitting,
     sum(CASE WHEN candidate.sizeBytes = v.sizeBytes AND candidate.dtype = v.dtype
              THEN candidate.takenCount ELSE 0 END) AS taken
// the copy that preserves the old value, and the last instruction that computes with it
OPTIONAL MATCH (v)-[:USED_BY]->(:Instruction)-[:DEFINES]->(k:Value)
WITH c, a, v, fitting, taken,
     min(CASE WHEN k.opcode = 'copy' AND k.shape = v.shape
                   AND (k.layout = v.layout OR (k.layout IS NULL AND v.layout IS NULL))
              THEN k.valueId ELSE null END) AS copyId
OPTIONAL MATCH (v)-[:USED_BY]->(:Instruction)-[:DEFINES]->(k:Value) WHERE k.valueId = copyId
OPTIONAL MATCH (k)-[:USED_BY]->(r:Instruction) WHERE r.step IS NOT NULL
WITH c, a, v, fitting, taken, k.key AS copyKey, k.label AS copied,
     coalesce(k.liveUntil = c.scheduleLength, false) AS isReturned,
     max(r.step) AS lastStep,
     max(CASE WHEN r.opcode IN ['copy', 'tuple'] THEN null ELSE r.step END) AS readStep
WITH c, a, v, fitting, taken, copied, isReturned, coalesce(copyKey, v.key) AS oldKey,
     CASE WHEN copyKey IS NULL THEN v.lastUse WHEN readStep IS NULL THEN lastStep
          ELSE readStep END AS readStep
OPTIONAL MATCH (:Value {key: oldKey})-[:USED_BY]->(r:Instruction) WHERE r.step = readStep
OPTIONAL MATCH (r)-[:DEFINES]->(m:Value)
WITH c, a, v, fitting, taken, copied, isReturned, min(r.name) AS lastReader,
     min(coalesce(m.userFile, r.sourceFile)) AS lastReaderFile,
     min(CASE WHEN m.userFile IS NULL THEN r.sourceLine ELSE m.userLine END) AS lastReaderLine
// the next value in its bytes: if the old value is not copied, a copy of the new one
OPTIONAL MATCH (a)-[:HOLDS]->(n:Value) WHERE n.key <> v.key AND n.liveFrom >= v.liveUntil
WITH c, a, v, fitting, taken, copied, isReturned, lastReader, lastReaderFile, lastReaderLine,
     min(n.liveFrom) AS nextFrom
OPTIONAL MATCH (a)-[:HOLDS]->(n:Value) WHERE n.key <> v.key AND n.liveFrom = nextFrom
WITH c, a, v, fitting, taken, copied, isReturned, lastReader, lastReaderFile, lastReaderLine,
     min(n.label) AS by, min(CASE WHEN n.opcode = 'copy' THEN n.label ELSE null END) AS copiedTo
OPTIONAL MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.liveUntil = c.scheduleLength AND w.key <> v.key
WITH a, v, w, fitting, taken, isReturned, coalesce(copied, copiedTo) AS copied, lastReader,
     lastReaderFile, lastReaderLine, by,
     CASE WHEN a.maybeLiveOut = false THEN 'never used'
          WHEN w.key IS NULL OR w.aliasSet = v.aliasSet THEN 'in place'
          WHEN copied IS NULL AND copiedTo IS NULL THEN 'in place'
          ELSE 'copied first' END AS outcome
RETURN a.parameterNumber AS parameterNumber, a.shapeIndex AS shapeIndex, v.label AS value,
       v.shape AS shape, v.sizeBytes AS sizeBytes, outcome,
       CASE WHEN outcome = 'in place' AND w.key IS NULL THEN 'returned as it is'
            WHEN outcome = 'in place' AND w.aliasSet <> v.aliasSet
            THEN 'its bytes are used again after its last use'
            WHEN outcome = 'in place' THEN null
            WHEN isReturned THEN 'it is returned too: it must stay for the caller'
            WHEN outcome = 'copied first' THEN 'it is still read when its bytes are needed'
            WHEN fitting = 0 THEN 'no output of that size and type'
            WHEN fitting = taken THEN 'every such output is in another donated input'
            ELSE 'it is still read when such an output is written' END AS reason,
       by, CASE WHEN outcome = 'copied first' THEN copied ELSE null END AS copy,
       CASE WHEN outcome = 'copied first' AND NOT isReturned THEN lastReader ELSE null END AS reader,
       CASE WHEN outcome = 'copied first' AND NOT isReturned THEN lastReaderFile
            ELSE null END AS readerFile,
       CASE WHEN outcome = 'copied first' AND NOT isReturned THEN lastReaderLine
            ELSE null END AS readerLine,
       w.label AS output, w.aliasSet = v.aliasSet AS inPlace,
       v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       w.opcode AS outputOpcode, w.opName AS outputOpName
ORDER BY sizeBytes DESC, parameterNumber, shapeIndex, output
LIMIT $limit
