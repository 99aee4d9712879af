// Runs with a compilation without live ranges, and how many have them; $sides are runs or keys
UNWIND $sides AS side
MATCH (c:Compilation)
WHERE (c.run = side OR c.key = side) AND c.state = 'complete'
WITH DISTINCT c
WITH c.run AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
WHERE withRanges < compilations
RETURN run, compilations, withRanges
ORDER BY run
