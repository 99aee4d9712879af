// No row; hands incomplete compilations to a load
MATCH (c:Loading)
WHERE c.key IN $given.keys
SET c.state = 'loading', c.load = $given.load
