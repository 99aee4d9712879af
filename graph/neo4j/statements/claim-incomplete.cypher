// No row; makes incomplete compilations ours
MATCH (c:Loading)
WHERE c.key IN $given.keys
SET c.state = 'loading', c.load = $given.load
