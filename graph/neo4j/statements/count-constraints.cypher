// How many constraints of the graph the database has
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'xlagraph_'
RETURN count(*) AS constraints
