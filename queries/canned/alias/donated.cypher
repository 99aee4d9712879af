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
// @shown    parameterNumber value outcome reason sizeBytes userFile attributedOpName … shapeIndex
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
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.valueId = a.donatedValue
OPTIONAL MATCH (a)-[:HOLDS]->(w:Value)
WHERE w.liveUntil = c.scheduleLength AND w.key <> v.key
WITH v.key AS valueKey, w.key AS outputKey
ORDER BY v.sizeBytes DESC, a.parameterNumber, a.shapeIndex, w.label LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (a:Allocation)-[:HOLDS]->(v:Value {key: valueKey})
OPTIONAL MATCH (w:Value {key: outputKey})
RETURN a.parameterNumber AS parameterNumber, a.shapeIndex AS shapeIndex, v.label AS value,
       v.shape AS shape, v.sizeBytes AS sizeBytes, a.donationOutcome AS outcome,
       a.donationReason AS reason, a.nextValue AS by, a.donationCopy AS copy,
       a.donationReader AS reader, a.donationReaderFile AS readerFile,
       a.donationReaderLine AS readerLine,
       w.label AS output, w.aliasSet = v.aliasSet AS inPlace,
       v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       w.opcode AS outputOpcode, w.opName AS outputOpName
ORDER BY sizeBytes DESC, parameterNumber, shapeIndex, output
