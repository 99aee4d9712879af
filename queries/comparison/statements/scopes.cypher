// Scopes of op names, down to a depth; the deepest last
UNWIND $opNames AS opKey
MATCH (o:Op {key: opKey})-[:WITHIN]->(s:Scope)
WHERE s.depth <= $depth
RETURN o.name AS opName, s.depth AS depth, s.name AS scope
ORDER BY opName, depth, scope
