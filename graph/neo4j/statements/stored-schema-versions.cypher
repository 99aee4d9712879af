// Versions of the schema that wrote the runs; null where there is none
MATCH (r:Run)
WITH coalesce(r.schemaVersion, 0) AS version
RETURN min(version) AS oldest, max(version) AS newest
