// Values that an instruction defines, one for each element of a tuple
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.name = $instruction
RETURN v.key AS value, v.label AS label
ORDER BY label
