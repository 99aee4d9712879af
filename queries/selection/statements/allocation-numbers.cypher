// How many allocations a compilation has, and the largest number among them
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
RETURN count(a) AS allocations, max(a.number) AS largest
