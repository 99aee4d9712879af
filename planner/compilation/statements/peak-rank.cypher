// Rank of a value among the values live at the peak, in the order of peak/contributors
MATCH (v:Value {key: $value})-[p:LIVE_AT_PEAK]->(s:MemorySpace)
WITH v, s, p.physicalBytes AS own
MATCH (s)<-[q:LIVE_AT_PEAK]-(w:Value)
WITH CASE WHEN q.physicalBytes > own THEN 1 WHEN q.physicalBytes < own THEN 0
          WHEN w.sizeBytes > v.sizeBytes THEN 1 WHEN w.sizeBytes < v.sizeBytes THEN 0
          WHEN w.label < v.label THEN 1 ELSE 0 END AS isAhead
WITH sum(isAhead) AS countAhead, count(*) AS contributors
RETURN coalesce(countAhead, 0) + 1 AS rank, contributors
ORDER BY rank
