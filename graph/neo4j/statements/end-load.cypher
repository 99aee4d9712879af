// No row; ends another load
MATCH (l:Load {key: $given.load})
DELETE l
