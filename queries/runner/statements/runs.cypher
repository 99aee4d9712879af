// Runs with their numbers of compilations
MATCH (r:Run)
OPTIONAL MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
RETURN r.name AS run, r.path AS path, count(c) AS compilations,
       r.ingestedAt AS ingestedAt, r.tags AS tags
ORDER BY run
