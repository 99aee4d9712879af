// Number of values of a compilation that have each fact
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
// known, but the embedded engine then scans the table: lookups take three times as long
WHERE v.compilation = $compilation
RETURN count(v.liveFrom) AS liveRanges, count(v.opcode) AS opcodes, count(v.opName) AS opNames,
       count(v.sourceFile) AS sourceFiles
