// Compilations, with their digests
MATCH (c:Compilation)
RETURN c.key AS key, c.sha256 AS digest
