// Keys of the compilations that a load did not complete
MATCH (c:Loading)
WHERE c.load = $given.load
RETURN c.key AS key
ORDER BY key
