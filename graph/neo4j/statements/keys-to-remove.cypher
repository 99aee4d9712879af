// Keys of our compilations that are being removed
MATCH (c:Loading)
WHERE c.load = $given.own AND c.state = 'removing'
RETURN c.key AS key
