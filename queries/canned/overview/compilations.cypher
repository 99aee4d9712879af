// Compilations, sorted by reserved bytes, descending
// @kind     table
// @answers  Which of my modules use the most memory?
// @param    run               STRING = ''        run name; all runs if empty
// @param    limit             INTEGER = 10000  rows to return
// @column   run               STRING       run name
// @column   compilation       STRING       key of the compilation
// @column   module            STRING       module name without trailing digits; null if not in the
//           dump
// @column   platform          STRING       cpu, gpu or rocm; null for a bare after_optimizations
// @column   values            INTEGER      number of values
// @column   totalBytes        INTEGER      total size of the allocations as printed by XLA; null
//           before TensorFlow 2.1
// @column   allocationBytes   INTEGER      total size of the allocations, including thread-local
//           ones
// @column   reservedBytes     INTEGER      total size of the allocations in memory space 0, without
//           thread-local ones
// @column   logicalPeakBytes  INTEGER      largest total size of live values in memory space 0
// @column   physicalPeakBytes INTEGER      largest number of bytes of memory space 0 occupied by
//           live values
// @column   printedPeakBytes  INTEGER      total size of the values in XLA's printed peak list
// @shown    … totalBytes allocationBytes logicalPeakBytes printedPeakBytes
// @measure  reserved, allocation, logical, physical, printed
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // otherwise one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH r, c
ORDER BY c.reservedBytes DESC, c.key
LIMIT $limit // before the other data is read
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
RETURN r.name AS run, c.key AS compilation, m.name AS module, c.platform AS platform,
       c.valueCount AS values, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes,
       c.reservedBytes AS reservedBytes, c.logicalPeakBytes AS logicalPeakBytes,
       c.physicalPeakBytes AS physicalPeakBytes, c.printedPeakBytes AS printedPeakBytes
ORDER BY reservedBytes DESC, compilation
