// What JAX's memory analysis says of a compilation, next to its allocations
// @kind     table
// @answers  Does compiled.memory_analysis() agree with the plan?
// @param    compilation     STRING   key of a compilation, or a unique part of it
// @column   field           STRING   name in JAX, such as temp_size_in_bytes
// @column   statedBytes     INTEGER  the number that JAX states
// @column   allocationBytes INTEGER  total size of the allocations that XLA counts for it; null if
//           it is not such a sum
// @column   agrees          BOOLEAN  true if both are equal
// @measure  allocation
// @note     `record` and `ingest_compiled` store the numbers. A dump alone does not have them.
// @note     A donated input that a result overwrites is in argument, output and alias.
// @empty    no memory analysis is stored; load the program with `xlagraph record` or ingest_compiled
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:STATES]->(s:MemoryStatistic)
RETURN s.field AS field, s.statedBytes AS statedBytes, s.allocationBytes AS allocationBytes,
       s.agrees AS agrees
ORDER BY field
