// Number of positions of the values of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[p:APPEARS_AT]->(:Instruction)
RETURN count(p) AS positions
