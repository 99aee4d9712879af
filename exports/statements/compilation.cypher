// The compilation of this key, if it is complete
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.key AS compilation, c.run AS run, coalesce(c.moduleName, c.name) AS module,
       c.result AS result, c.scheduleLength AS scheduleLength
ORDER BY compilation
