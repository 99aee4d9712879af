// No row; makes complete compilations incomplete, and ours
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
REMOVE c:Compilation
SET c:Loading, c.state = $given.state, c.load = $given.load
