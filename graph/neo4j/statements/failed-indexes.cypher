// Names of the graph's indexes that the server could not fill
SHOW INDEXES YIELD name, state
WHERE name STARTS WITH 'xlagraph_' AND state = 'FAILED'
RETURN name
