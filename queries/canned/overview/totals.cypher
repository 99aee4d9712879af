// Totals printed by XLA compared with those of the graph
// @kind     table
// @answers  Can I trust these numbers?
// @param    run               STRING = ''        run name; all runs if empty
// @param    limit             INTEGER = 10000  rows to return
// @column   compilation       STRING       key of the compilation
// @column   totalBytes        INTEGER      total size of the allocations as printed by XLA; null
//           before TensorFlow 2.1
// @column   allocationBytes   INTEGER      total size of the allocations, including thread-local
//           ones
// @column   agrees            BOOLEAN      true if both sums are equal; null if XLA prints no total
// @column   printedPeakBytes  INTEGER      total size of the values in XLA's printed peak list
// @column   logicalPeakBytes  INTEGER      largest total size of live values in memory space 0
// @column   physicalPeakBytes INTEGER      largest number of bytes of memory space 0 occupied by
//           live values
// @shown    compilation totalBytes agrees physicalPeakBytes
// @measure  allocation, printed, logical, physical
// @note     Compilations that do not agree are first, those without a printed total last.
// @note     allocationBytes was summed during the ingest; `xlagraph check` sums the allocations in
//           the graph.
// @note     XLA's printed peak is an estimate with other sizes and often at another step: a
//           difference from the logical peak does not mean that the dump is wrong.
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // otherwise one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c, c.totalBytes = c.allocationBytes AS agrees
ORDER BY agrees, c.key
LIMIT $limit // before the other data is read
RETURN c.key AS compilation, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes,
       agrees, c.printedPeakBytes AS printedPeakBytes,
       c.logicalPeakBytes AS logicalPeakBytes, c.physicalPeakBytes AS physicalPeakBytes
ORDER BY agrees, compilation
