// Names of the runs
MATCH (r:Run)
RETURN r.name AS run
ORDER BY run
