// Keys of the compilations that a load did not complete
MATCH (k:Claim)
WHERE k.load = $given.load
RETURN k.key AS key
ORDER BY key
