// Scopes of the ops that the values at the peak of a compilation belong to, the outermost first
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:USES_SPACE]->(s:MemorySpace)
MATCH (s)<-[:LIVE_AT_PEAK]-(v:Value)
MATCH (v)-[:ATTRIBUTED_TO]->(o:Op)-[:WITHIN]->(z:Scope)
RETURN DISTINCT o.name AS opName, z.depth AS depth, z.name AS scope
ORDER BY opName, depth
