// Incomplete compilations of some keys, and whether the load is there that holds them
MATCH (c:Loading)
WHERE c.key IN $given.keys
RETURN c.key AS key, c.state AS state, c.load AS load,
       EXISTS { MATCH (l:Load) WHERE l.key = c.load } AS loadExists
