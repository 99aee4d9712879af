// XLA's own peak list, and what it left out
// @kind     table
// @answers  What does XLA itself list at its peak, and what did it leave out?
// @param    compilation        STRING        key of a compilation, or a unique part of it
// @param    memorySpace        INTEGER = 0   number of the memory space
// @param    limit              INTEGER = 20  rows to return
// @column   value              STRING        name of the value, with its tuple index
// @column   rank               INTEGER       place in XLA's list, from 0; null if it left the
//           value out
// @column   printedBytes       INTEGER       as listed; null if it left the value out
// @column   sizeBytes          INTEGER       assigned size, padding included
// @column   physicalBytes      INTEGER       its own share of the physical peak; null if not live
//           then
// @column   liveAtPhysicalPeak BOOLEAN       live when most bytes really hold something
// @column   shape              STRING        shape, without layout
// @column   opcode             STRING        opcode of the instruction that makes it
// @column   opName             STRING        op name of that instruction, as the framework set it
// @column   sourceFile         STRING        source file of that instruction
// @column   sourceLine         INTEGER       line in that file
// @column   attributedOpName   STRING        op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile           STRING        file of the innermost line outside of installed
//           packages
// @column   userLine           INTEGER       that line
// @measure  printed, physical
// @note     Values of one memory space that are listed, or live at its physical peak; XLA mixes
//           all spaces in its list.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation {memorySpace: $memorySpace})-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[l:IN_PRINTED_PEAK]->(:Compilation)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v, l, p WHERE l.rank IS NOT NULL OR p.physicalBytes IS NOT NULL
RETURN v.label AS value, l.rank AS rank, l.printedBytes AS printedBytes,
       v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       p.physicalBytes IS NOT NULL AS liveAtPhysicalPeak,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
LIMIT $limit
