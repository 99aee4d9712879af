// No row; ends the workers of another load
MATCH (l:Load {load: $given.load})
WHERE l.key <> $given.load
DELETE l
