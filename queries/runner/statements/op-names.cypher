// Op names that contain $part, exact matches first; the /jit(main) of older JAX is ignored
MATCH (o:Op)
WITH o.name AS name,
     replace(o.name, '/jit(main)', '') = replace($part, '/jit(main)', '') AS isWhole
WHERE $part = '' OR isWhole OR name CONTAINS $part
RETURN name, isWhole
ORDER BY isWhole DESC, name
LIMIT 1000
