// Runs, or those of $sides (runs or keys), with compilations without live ranges, and both counts
UNWIND $sides AS side
MATCH (c:Compilation)
WHERE (c.run = side OR c.key = side) AND c.state = 'complete'
WITH DISTINCT c
WITH c.run AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
WHERE withRanges < compilations
RETURN run, compilations, withRanges
ORDER BY run
