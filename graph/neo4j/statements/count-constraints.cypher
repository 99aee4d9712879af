// How many constraints of ours the database has
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'xlagraph_'
RETURN count(*) AS made
