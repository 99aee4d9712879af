// How many compilations of each run have live ranges; $sides are runs or keys, '' is all
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
      AND any(side IN $sides WHERE side = '' OR side = r.name OR side = c.key)
RETURN r.name AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
ORDER BY run
