// Producers and readers of a value, as a picture
// @kind     graph
// @answers  What is it made from, and what reads it, up to N hops?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    value       STRING        value label with its tuple index: fusion.7, while.1{1}
// @param    hops        INTEGER = 2   largest distance in instructions, on each side
// @param    limit       INTEGER = 30  nodes drawn on each side, nearest first
// @bounds   hops        1..3
// @column   read        PATH          path from a value to an instruction that reads it
// @column   made        PATH          path from an instruction to a value that it makes
// @measure  none
// @note     Every value of an instruction counts as made from all values that the instruction
//           reads.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
MATCH walk = (v)-[:USED_BY|DEFINES*1..6]->(w)
WHERE w.key <> v.key
WITH v.key AS own, w.key AS k, min(length(walk)) AS walked
WHERE walked <= 2 * $hops
WITH own, k, walked
ORDER BY walked, own, k
LIMIT $limit
// without DISTINCT the embedded engine loses the order that the limit cuts
WITH DISTINCT own, k, walked
WITH own, collect(k) AS reached
UNWIND reached AS k
OPTIONAL MATCH (i:Instruction {key: k})
OPTIONAL MATCH (x:Value {key: k})
OPTIONAL MATCH read = (a:Value)-[:USED_BY]->(i) WHERE a.key = own OR a.key IN reached
OPTIONAL MATCH made = (b:Instruction)-[:DEFINES]->(x) WHERE b.key IN reached
RETURN read, made
ORDER BY k, a.key, b.key
UNION ALL
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
MATCH walk = (v)<-[:USED_BY|DEFINES*1..6]-(w)
WHERE w.key <> v.key
WITH v.key AS own, w.key AS k, min(length(walk)) AS walked
WHERE walked <= 2 * $hops
WITH own, k, walked
ORDER BY walked, own, k
LIMIT $limit
// without DISTINCT the embedded engine loses the order that the limit cuts
WITH DISTINCT own, k, walked
WITH own, collect(k) AS reached
UNWIND reached AS k
OPTIONAL MATCH (i:Instruction {key: k})
OPTIONAL MATCH (x:Value {key: k})
OPTIONAL MATCH read = (x)-[:USED_BY]->(b:Instruction) WHERE b.key IN reached
OPTIONAL MATCH made = (i)-[:DEFINES]->(a:Value) WHERE a.key = own OR a.key IN reached
RETURN read, made
ORDER BY k, a.key, b.key
