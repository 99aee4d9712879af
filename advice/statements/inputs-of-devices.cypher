// Inputs of a program that is partitioned over several devices, with their sharding
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation {role: 'parameter'})-[:HOLDS]->(v:Value {opcode: 'parameter'})
      <-[:DEFINES]-(i:Instruction)
WHERE c.partitions > 1 AND a.parameterNumber IS NOT NULL
RETURN DISTINCT v.label AS value, i.sharding AS sharding, c.partitions AS devices
ORDER BY value
