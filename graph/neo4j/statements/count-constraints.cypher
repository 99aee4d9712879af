// Number of the graph's constraints that the database has
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'xlagraph_'
RETURN count(*) AS constraints
