// Values whose bytes a value reuses, in place or after a gap, sorted by bytes, descending
MATCH (v:Value {key: $value})-[u:UPDATES_IN_PLACE|REUSES]->(w:Value)
RETURN w.label AS value, u.step IS NOT NULL AS inPlace, u.sharedBytes AS sharedBytes,
       coalesce(u.step, u.gapSteps) AS steps, w.shape AS shape, w.opName AS opName
ORDER BY sharedBytes DESC, value
