// Number of allocations of a compilation, and the largest allocation number
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
RETURN count(a) AS allocations, max(a.number) AS largest
