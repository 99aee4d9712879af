// Complete compilations of some keys, with their digests
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
WHERE c.state = 'complete'
RETURN key, c.sha256 AS digest
