// The number of nodes with each label
MATCH (n)
RETURN label(n) AS name, count(*) AS rows
