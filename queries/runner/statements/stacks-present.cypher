// Number of values of a compilation with a source line, of those with a call stack, and of those
// with an op name of JAX
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN count(v.attributedFile) AS lines, count(f) AS stacks,
       sum(CASE WHEN v.attributedOpName CONTAINS 'jit(' OR v.attributedOpName CONTAINS 'jvp('
                THEN 1 ELSE 0 END) AS ofJax
