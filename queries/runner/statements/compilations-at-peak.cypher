// A compilation of these runs or keys that is stored with peak detail only
UNWIND $sides AS name
MATCH (c:Compilation)
WHERE (c.run = name OR c.key = name) AND c.state = 'complete' AND c.detail = 'peak'
RETURN c.key AS compilation
ORDER BY compilation
LIMIT 1
