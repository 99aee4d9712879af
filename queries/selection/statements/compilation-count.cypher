// How many compilations there are
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN count(c) AS compilations
