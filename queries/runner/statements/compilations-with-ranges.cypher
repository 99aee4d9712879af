// Runs in which a compilation has no live ranges, with how many have; $sides are runs or keys
MATCH (c:Compilation)
WHERE (c.run IN $sides OR c.key IN $sides) AND c.state = 'complete'
WITH c.run AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
WHERE withRanges < compilations
RETURN run, compilations, withRanges
ORDER BY run
