// Number of values of a compilation made by fusions, and of those with a known root
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)<-[:DEFINES]-(i:Instruction) WHERE v.opcode = 'fusion'
RETURN count(v) AS fusions, count(i.rootOpcode) AS fusionRoots
