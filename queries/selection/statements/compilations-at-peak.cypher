// One of the compilations of some runs or keys that are stored only with their peaks
UNWIND $sides AS name
MATCH (c:Compilation)
WHERE (c.run = name OR c.key = name) AND c.state = 'complete' AND c.detail = 'peak'
RETURN c.key AS compilation
ORDER BY compilation
LIMIT 1
