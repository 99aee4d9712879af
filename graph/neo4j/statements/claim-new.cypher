// No row; makes locked compilations that are new incomplete, held by a load
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
WHERE c.state IS NULL
REMOVE c:Compilation
SET c:Loading, c.state = 'loading', c.load = $given.load
