// Number of values of a compilation with a source line, of those with a call stack, and of inputs
// with the op name that TensorFlow gives all of them
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN count(v.attributedFile) AS lines, count(f) AS stacks,
       sum(CASE WHEN v.opName = 'XLA_Args' THEN 1 ELSE 0 END) AS inputsOfTensorflow
