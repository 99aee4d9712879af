// How many values of a compilation are made by fusions, and of how many of those the root is known
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)<-[:DEFINES]-(i:Instruction) WHERE v.opcode = 'fusion'
RETURN count(v) AS fusions, count(i.rootOpcode) AS fusionRoots
