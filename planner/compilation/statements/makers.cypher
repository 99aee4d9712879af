// Where each value of a compilation is made, in any order
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
MATCH (i:Instruction)-[:DEFINES]->(v)
RETURN v.valueId AS valueId, i.computation AS computation, i.postOrder AS postOrder
