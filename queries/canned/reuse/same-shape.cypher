// Arrays of the same shape, and how many are live together at the peak
// @kind     table
// @answers  Why do N equal arrays not share one buffer?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   shape         STRING        shape of the values, without layout
// @column   values        INTEGER       number of values
// @column   liveAtPeak    INTEGER       number of values live at the physical peak, which cannot
//           share bytes
// @column   sizeBytes     INTEGER       assigned size of one value; the largest if layouts differ
// @column   totalBytes    INTEGER       total assigned size of the values live at the peak
// @column   physicalBytes INTEGER       total share of the physical peak
// @measure  assigned, physical
// @note     Rows are shapes of two or more values; tuples, tokens and thread-local values are
//           excluded.
// @note     Both values of an in-place update count as live, although they share bytes:
//           physicalBytes counts the bytes once.
// @note     Columns about the peak are null if the dump has no live ranges.
// @empty    no two values of this memory space have the same shape
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.memorySpace = $memorySpace AND (a.role IS NULL OR a.role <> 'threadLocal')
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
WITH v.shape AS shape, max(c.scheduleLength) AS schedule, count(v) AS values,
     count(p.physicalBytes) AS live, max(v.sizeBytes) AS sizeBytes,
     sum(CASE WHEN p.physicalBytes IS NULL THEN 0 ELSE v.sizeBytes END) AS liveBytes,
     coalesce(sum(p.physicalBytes), 0) AS shares
WHERE values > 1
RETURN shape, values, CASE WHEN schedule IS NULL THEN null ELSE live END AS liveAtPeak, sizeBytes,
       CASE WHEN schedule IS NULL THEN null ELSE liveBytes END AS totalBytes,
       CASE WHEN schedule IS NULL THEN null ELSE shares END AS physicalBytes
ORDER BY totalBytes DESC, sizeBytes DESC, shape
LIMIT $limit
