// Key of the compilation with the most reserved bytes
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation, coalesce(c.reservedBytes, 0) AS reservedBytes
ORDER BY reservedBytes DESC, compilation
LIMIT 1
