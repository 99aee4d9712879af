// Runs with a compilation without live ranges, and how many have them
MATCH (c:Compilation)
WHERE c.state = 'complete'
WITH c.run AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
WHERE withRanges < compilations
RETURN run, compilations, withRanges
ORDER BY run
