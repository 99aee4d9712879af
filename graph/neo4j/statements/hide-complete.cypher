// No row; makes complete compilations incomplete, held by a load
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
REMOVE c:Compilation
SET c:Loading, c.state = $given.state, c.load = $given.load
