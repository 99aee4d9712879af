// The number of relationships of each type
MATCH ()-[r]->()
RETURN label(r) AS name, count(*) AS rows
