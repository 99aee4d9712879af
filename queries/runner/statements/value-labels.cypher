// Labels of values that contain $part, the exact match first
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE $part = '' OR v.label CONTAINS $part
RETURN v.label AS name, v.label = $part AS isWhole
ORDER BY isWhole DESC, name
LIMIT 1000
