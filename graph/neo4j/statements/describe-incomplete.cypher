// No row; gives incomplete compilations their properties
MATCH (c:Loading)
WHERE c.key IN $given.keys
SET c = $given.rows[c.key]
