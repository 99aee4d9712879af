// XLA's own figures beside those of the graph
// @kind     table
// @answers  Can I trust these numbers?
// @param    run               STRING = ''        name of a run; all of them if empty
// @param    limit             INTEGER = 10000  rows to return
// @column   compilation       STRING       its key
// @column   totalBytes        INTEGER      XLA's own sum of the allocations; null before
//           TensorFlow 2.1
// @column   allocationBytes   INTEGER      sum of the allocations, thread-local ones included
// @column   agrees            BOOLEAN      the two are equal; null if XLA prints no total
// @column   printedPeakBytes  INTEGER      sum of the list that XLA prints at its own peak
// @column   logicalPeakBytes  INTEGER      largest sum of the sizes of live values in memory space
//           0
// @column   physicalPeakBytes INTEGER      most bytes of memory space 0 that hold a live value
// @measure  allocation, printed, logical, physical
// @note     Those that do not agree come first, those without a total last.
// @note     The sum is that of the ingest; `xlagraph check` adds up what the graph holds.
// @note     XLA's printed peak is an estimate with other sizes and often of another step: that
//           it differs from the logical peak says nothing against the dump.
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // else one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, c.totalBytes = c.allocationBytes AS agrees
ORDER BY agrees, c.key
LIMIT $limit // before the rest is read
RETURN c.key AS compilation, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes,
       agrees, c.printedPeakBytes AS printedPeakBytes,
       c.logicalPeakBytes AS logicalPeakBytes, c.physicalPeakBytes AS physicalPeakBytes
ORDER BY agrees, compilation
