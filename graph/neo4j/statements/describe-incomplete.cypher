// No row; sets the properties of incomplete compilations
MATCH (c:Loading)
WHERE c.key IN $given.keys
SET c = $given.rows[c.key]
