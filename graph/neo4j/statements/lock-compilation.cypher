// No row; locks a compilation by key, if it is there
MATCH (c:Compilation {key: $given.key})
SET c.key = c.key
