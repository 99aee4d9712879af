// How many compilations of each run have live ranges; of all runs if $runs is empty
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete' AND (size($runs) = 0 OR r.name IN $runs)
RETURN r.name AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
ORDER BY run
