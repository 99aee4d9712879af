// Entry parameters of a compilation and of all others of the same module
MATCH (c:Compilation {key: $compilation, state: 'complete'})
MATCH (o:Compilation {state: 'complete'})-[:ALLOCATES]->(a:Allocation)
WHERE o.moduleName = c.moduleName AND a.parameterNumber IS NOT NULL
RETURN o.key AS compilation, a.parameterNumber AS parameterNumber,
       coalesce(a.shapeIndex, '{}') AS shapeIndex, a.shape AS shape
ORDER BY compilation, parameterNumber, shapeIndex
