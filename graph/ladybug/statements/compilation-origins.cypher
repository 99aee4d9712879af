// Compilations, with their sources
MATCH (c:Compilation)
RETURN c.key AS key, c.sha256 AS sha256, c.path AS path, c.detail AS detail
