// Compilations, the one that reserves most first
// @kind     table
// @answers  Which of my hundreds of modules matters?
// @param    run               STRING = ''        name of a run; all of them if empty
// @param    limit             INTEGER = 10000  rows to return
// @column   run               STRING       name of the run
// @column   compilation       STRING       its key
// @column   module            STRING       module name without trailing digits; null if the dump
//           has none
// @column   platform          STRING       cpu, gpu or rocm; null for a bare after_optimizations
// @column   values            INTEGER      how many values
// @column   totalBytes        INTEGER      XLA's own sum of the allocations; null before
//           TensorFlow 2.1
// @column   allocationBytes   INTEGER      sum of the allocations, thread-local ones included
// @column   reservedBytes     INTEGER      sum of the allocations of memory space 0, thread-local
//           ones left out
// @column   logicalPeakBytes  INTEGER      largest sum of the sizes of live values in memory space
//           0
// @column   physicalPeakBytes INTEGER      most bytes of memory space 0 that hold a live value
// @column   printedPeakBytes  INTEGER      sum of the list that XLA prints at its own peak
// @measure  reserved, allocation, logical, physical, printed
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // else one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH r, c
ORDER BY c.reservedBytes DESC, c.key
LIMIT $limit // before the rest is read
OPTIONAL MATCH (c)-[:OF_MODULE]->(m:Module)
RETURN r.name AS run, c.key AS compilation, m.name AS module, c.platform AS platform,
       c.valueCount AS values, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes,
       c.reservedBytes AS reservedBytes, c.logicalPeakBytes AS logicalPeakBytes,
       c.physicalPeakBytes AS physicalPeakBytes, c.printedPeakBytes AS printedPeakBytes
ORDER BY reservedBytes DESC, compilation
