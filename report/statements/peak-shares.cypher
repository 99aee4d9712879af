// Shares of the physical peaks of compilations, value by value, the largest first
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey}) WHERE c.state = 'complete'
OPTIONAL MATCH (c)-[:USES_SPACE]->(m:MemorySpace)<-[l:LIVE_AT_PEAK]-(v:Value) // else one engine reads whole tables
WITH c, m, l, v, CASE WHEN v.attributedOpName CONTAINS '/jit(main)' THEN $depth + 1 ELSE $depth END AS depth
WHERE m.color = 0 AND l.physicalBytes > 0
OPTIONAL MATCH (:Op {key: v.attributedOpName})-[:WITHIN]->(z:Scope)
WHERE z.depth = depth
RETURN c.key AS compilation, v.label AS value,
       replace(replace(replace(replace(replace(replace(replace(replace(v.attributedOpName,
       '/jit(main)', ''), '/closed_call', ''), '/eval_jaxpr', ''), '/jit(dynamic_index_in_dim)', ''),
       '/jit(dynamic_update_index_in_dim)', ''), '(while)))', '()))/while'),
       '(while))', '())/while'), '(while)', '()/while') AS opName,
       replace(coalesce(z.name, v.attributedOpName), '/jit(main)', '') AS scope,
       v.opcode AS opcode, v.userFile AS userFile, v.userLine AS userLine,
       v.attributedFile AS sourceFile, v.attributedLine AS sourceLine,
       v.shape AS shape, l.physicalBytes AS bytes
ORDER BY bytes DESC, compilation, value
LIMIT $limit
