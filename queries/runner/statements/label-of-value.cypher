// Label of a value
MATCH (v:Value {key: $value})
RETURN v.label AS label
ORDER BY label
