// No row; deletes the node of a load, which ends it
MATCH (l:Load {key: $given.load})
DELETE l
