// True if a compilation is complete, and the load that claims it, if any
OPTIONAL MATCH (c:Compilation {key: $given.key})
OPTIONAL MATCH (k:Claim)
WHERE k.key = $given.key
RETURN c.state IS NOT NULL AS isComplete, k.load AS load
