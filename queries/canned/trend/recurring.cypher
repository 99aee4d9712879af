// Ops that are at the peak in the most compilations
// @kind     table
// @answers  Which ops are at the peak in the most compilations?
// @param    run          STRING = ''   name of a run; all of them if empty
// @param    memorySpace  INTEGER = 0   number of the memory space
// @param    latest       INTEGER = 8000  compilations to look at, those that were ingested last
// @param    limit        INTEGER = 20  rows to return
// @column   opName       STRING        op name that values belong to, as the framework set it
// @column   compilations INTEGER       in how many compilations it is at the peak
// @column   totalBytes   INTEGER       its physical shares in all of them
// @column   maxBytes     INTEGER       the largest of its shares in one of them
// @measure  physical
// @note     Shares above 0 only. The largest share is that of all values of the op in one
//           compilation together.
// @note     What has no op name of its own counts for the op that it is made of or read by.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer is one op, under the newer name
//           where there are both.
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // else one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c
ORDER BY c.ingestedAt DESC, c.key
LIMIT $latest
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE p.physicalBytes > 0
WITH c, v.attributedOpName AS attributed, sum(p.physicalBytes) AS share // fewer texts to replace
WITH replace(attributed, '/jit(main)', '') AS op, c, min(attributed) AS least,
     max(attributed) AS greatest, sum(share) AS bytes
WITH op, min(least) = max(greatest) AS isOneName, min(least) AS name,
     count(c) AS compilations, sum(bytes) AS totalBytes, max(bytes) AS maxBytes
RETURN CASE WHEN isOneName THEN name ELSE op END AS opName, compilations, totalBytes, maxBytes
ORDER BY compilations DESC, totalBytes DESC, op
LIMIT $limit
