// Op names that have $part in them, the one that is $part first
MATCH (o:Op)
WHERE $part = '' OR o.name CONTAINS $part
RETURN o.name AS name, o.name = $part AS isWhole
ORDER BY isWhole DESC, name
LIMIT 1000
