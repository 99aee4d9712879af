// Number of values of each compilation that an error message names
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE c.state = 'complete' AND (v.name IN $instructions OR v.opName IN $opNames)
RETURN c.key AS compilation, count(v) AS foundValues
ORDER BY compilation
