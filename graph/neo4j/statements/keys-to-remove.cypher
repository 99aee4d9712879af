// Keys of the compilations that a load is removing
MATCH (c:Loading)
WHERE c.load = $given.own AND c.state = 'removing'
RETURN c.key AS key
