// No row; deletes the nodes that only locked their keys
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
WHERE c.state IS NULL
DELETE c
