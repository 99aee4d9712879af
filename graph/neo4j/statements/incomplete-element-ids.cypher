// Incomplete compilations of some keys, with the server's id of the node
MATCH (c:Loading)
WHERE c.key IN $given.keys
RETURN c.key AS key, elementId(c) AS id
