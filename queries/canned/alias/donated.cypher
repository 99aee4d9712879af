// Donated inputs and what takes their place
// @kind     table
// @answers  What became of each donated input, and why?
// @param    compilation     STRING          key of a compilation, or a unique part of it
// @param    limit           INTEGER = 1000  rows to return
// @column   parameterNumber INTEGER         number of the entry parameter
// @column   shapeIndex      STRING          place within that parameter, in braces
// @column   value           STRING          the value that the parameter is
// @column   shape           STRING          shape, without layout
// @column   sizeBytes       INTEGER         assigned size, padding included
// @column   outcome         STRING          in place: the output lies in its bytes, and nothing is
//           copied; copied first; never used
// @column   reason          STRING          why it is not plainly in place; null where it is
// @column   by              STRING          the value that takes its bytes over next; null if none
// @column   copy            STRING          the copy that keeps the old value, or brings the new one
// @column   reader          STRING          the instruction that reads the old value last: without
//           it the update would be in place; null if it is the caller
// @column   readerFile      STRING          file of your line that the reader comes from
// @column   readerLine      INTEGER         that line
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
// @note     A donated input is a parameter that the module text says the caller gives up, or
//           whose allocation is live-out; it is the first value that lives there.
// @note     XLA pairs an input that the caller gives up with an output of its size: each output takes
//           one input, and each input gives its bytes to one output. Where the program also returns
//           the old value, as another output, that one is a copy.
// @note     What the framework does not hand on is not in a dump: JAX drops the donation of an
//           argument without an output of its shape and type, and warns.
// @empty    nothing is donated in this compilation; alias/not-donated shows what could be
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(b:Allocation)-[:HOLDS]->(o:Value)
WHERE b.maybeLiveOut = true AND o.liveUntil = c.scheduleLength
// long: outputs, the copy, its last reader and what comes next are walks of their own
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
// the copy that keeps the old value, and the last instruction that computes with that
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
// what lies in its bytes next: without a copy of the old value, a copy of the new one
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
