// Number of values of a compilation with a source line, and of those with a call stack
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN count(v.attributedFile) AS lines, count(f) AS stacks
