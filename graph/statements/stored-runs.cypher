// Complete compilations of some runs, with the properties that a dump is compared with
UNWIND $runs AS name
MATCH (r:Run {key: name})-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
RETURN r.key AS run, r.path AS path, r.tags AS tags, r.snapshots AS snapshots, c.key AS compilation, c.path AS folder,
       c.sha256 AS sha256, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes,
       c.detail AS detail
ORDER BY compilation
