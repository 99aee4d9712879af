// The key of the compilation with the largest reservation
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation, coalesce(c.reservedBytes, 0) AS reservedBytes
ORDER BY reservedBytes DESC, compilation
LIMIT 1
