// Complete compilations of some keys, with their sources
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
WHERE c.state = 'complete'
RETURN key, c.sha256 AS sha256, c.path AS path, c.detail AS detail
