// No row; hands what another load did not complete to a load that removes it
MATCH (c:Loading)
WHERE c.load = $given.load
SET c.load = $given.own, c.state = 'removing'
