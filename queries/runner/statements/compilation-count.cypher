// Number of compilations
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN count(c) AS compilations
