// Shapes of the parameters and of the result of compilations
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:ALLOCATES]->(a:Allocation) // otherwise one engine reads whole tables
WITH c, a WHERE a.parameterNumber IS NOT NULL OR a.isOutput
RETURN c.key AS compilation, a.parameterNumber AS parameterNumber,
       a.shapeIndex AS shapeIndex, a.shape AS shape, a.isOutput AS isOutput
ORDER BY compilation, parameterNumber, shapeIndex, shape
