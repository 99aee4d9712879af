// Arrays of one shape, and how many are live together at the peak
// @kind     table
// @answers  Why do N equal arrays not share one buffer?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   shape         STRING        shape of all of them, without layout
// @column   values        INTEGER       how many there are
// @column   liveAtPeak    INTEGER       how many are live at the physical peak: these cannot share
// @column   sizeBytes     INTEGER       assigned size of one, the largest if layouts differ
// @column   totalBytes    INTEGER       assigned sizes of those live at the peak
// @column   physicalBytes INTEGER       their own shares of the physical peak
// @measure  assigned, physical
// @note     Shapes of two or more values; tuples, tokens and thread-local values are left out.
// @note     Two values that touch in an in-place update count both as live, though they share
//           their bytes: physicalBytes counts them once.
// @note     Without live ranges nothing is known of the peak: null.
// @empty    no two values of this memory space have one shape
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
