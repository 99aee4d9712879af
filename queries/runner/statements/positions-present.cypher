// Number of positions of a compilation's values
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[p:APPEARS_AT]->(:Instruction)
RETURN count(p) AS positions
