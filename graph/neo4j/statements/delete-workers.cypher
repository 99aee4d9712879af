// No row; deletes the nodes of the workers of a load, which ends them
MATCH (l:Load {load: $given.load})
WHERE l.key <> $given.load
DELETE l
