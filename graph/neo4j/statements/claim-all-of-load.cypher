// No row; makes ours, to remove them, what another load did not complete
MATCH (c:Loading)
WHERE c.load = $given.load
SET c.load = $given.own, c.state = 'removing'
