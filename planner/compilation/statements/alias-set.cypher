// Other values of the alias set of a value, from first to last
MATCH (v:Value {key: $value})<-[:HOLDS]-(a:Allocation)-[:HOLDS]->(w:Value)
WHERE w.key <> v.key AND w.aliasSet = v.aliasSet
RETURN w.aliasPosition AS position, w.label AS value
ORDER BY position, value
