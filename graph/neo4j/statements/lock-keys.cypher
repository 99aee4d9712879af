// No row; locks compilations by key, and creates those that do not exist
UNWIND $given.keys AS key
MERGE (c:Compilation {key: key})
SET c.key = key
