// Number of values of a compilation that have each fact
// The filter makes the embedded engine scan the table: lookups take three times as long
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE v.compilation = $compilation
RETURN count(v.liveFrom) AS liveRanges, count(v.opcode) AS opcodes, count(v.opName) AS opNames,
       count(v.sourceFile) AS sourceFiles
