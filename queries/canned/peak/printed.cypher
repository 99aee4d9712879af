// XLA's printed peak list, and the values missing from it
// @kind     table
// @answers  Which values does XLA list at its peak, and which are missing?
// @param    compilation        STRING        key of a compilation, or a unique part of it
// @param    memorySpace        INTEGER = 0   memory space number
// @param    limit              INTEGER = 20  rows to return
// @column   value              STRING        name of the value, with its tuple index
// @column   rank               INTEGER       position in XLA's list, from 0; null if the value is
//           not in the list
// @column   printedBytes       INTEGER       size in XLA's list; null if the value is not in the
//           list
// @column   sizeBytes          INTEGER       assigned size, including padding
// @column   physicalBytes      INTEGER       share of the physical peak; null if not live at that
//           peak
// @column   liveAtPhysicalPeak BOOLEAN       true if live at the physical peak
// @column   shape              STRING        shape, without layout
// @column   opcode             STRING        opcode of the instruction that produces the value
// @column   opName             STRING        op name of that instruction, as set by the framework
// @column   sourceFile         STRING        source file of that instruction
// @column   sourceLine         INTEGER       line in that file
// @column   attributedOpName   STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile           STRING        file of the innermost line outside installed packages
// @column   userLine           INTEGER       line in that file
// @shown    … liveAtPhysicalPeak shape opcode opName sourceFile
// @measure  printed, physical
// @note     Rows are values of one memory space that are in XLA's list or live at the physical
//           peak. XLA's list mixes all memory spaces.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation {memorySpace: $memorySpace})-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[l:IN_PRINTED_PEAK]->(:Compilation)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v, l, p WHERE l.rank IS NOT NULL OR p.physicalBytes IS NOT NULL
WITH v.key AS valueKey, l.rank AS rank, l.printedBytes AS printedBytes,
     p.physicalBytes AS physicalBytes
ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
// match by key again: before the limit the embedded engine would read the texts of every value
MATCH (v:Value {key: valueKey})
RETURN v.label AS value, rank, printedBytes, v.sizeBytes AS sizeBytes, physicalBytes,
       physicalBytes IS NOT NULL AS liveAtPhysicalPeak,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
