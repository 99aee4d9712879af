// No row; locks a compilation by key, if it exists
MATCH (c:Compilation {key: $given.key})
SET c.key = c.key
