// Compilations that a load has claimed, with the server's id of the node
MATCH (c:Loading)
WHERE c.load = $given.load AND c.key IN $given.keys
RETURN c.key AS key, elementId(c) AS id
