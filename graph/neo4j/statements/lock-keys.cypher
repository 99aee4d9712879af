// No row; locks compilations by key, made where they are not there
UNWIND $given.keys AS key
MERGE (c:Compilation {key: key})
SET c.key = key
