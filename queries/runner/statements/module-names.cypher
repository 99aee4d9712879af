// Names of modules that contain $part, the exact match first
MATCH (m:Module)
WHERE $part = '' OR m.name CONTAINS $part
RETURN m.name AS name, m.name = $part AS isWhole
ORDER BY isWhole DESC, name
LIMIT 1000
