// Ops that are at the peak in the most compilations
// @kind     table
// @answers  Which ops are at the peak in the most compilations?
// @param    run          STRING = ''   run name; all runs if empty
// @param    memorySpace  INTEGER = 0   memory space number
// @param    latest       INTEGER = 8000  number of compilations to read, the latest by ingest time
// @param    limit        INTEGER = 20  rows to return
// @column   opName       STRING        op name that the values belong to, as set by the framework
// @column   compilations INTEGER       number of compilations with the op at their peak
// @column   totalBytes   INTEGER       total physical share of the op in all compilations
// @column   maxBytes     INTEGER       largest share of the op in one compilation
// @measure  physical
// @note     Only shares above 0 count. maxBytes sums all values of the op in one compilation.
// @note     An instruction without an op name counts for an op inside it, or for an
//           operand's or a reader's op.
// @note     jit(f)/jit(main)/… of older JAX and jit(f)/… of newer JAX are the same op, under the
//           newer name if both exist.
// @status   stable
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // otherwise one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
WITH c
ORDER BY c.ingestedAt DESC, c.key
LIMIT $latest
MATCH (c)-[:USES_SPACE]->(:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE p.physicalBytes > 0
WITH c, v.attributedOpName AS attributed, sum(p.physicalBytes) AS share // fewer strings to replace
WITH replace(attributed, '/jit(main)', '') AS op, c, min(attributed) AS least,
     max(attributed) AS greatest, sum(share) AS bytes
WITH op, min(least) = max(greatest) AS isOneName, min(least) AS name,
     count(c) AS compilations, sum(bytes) AS totalBytes, max(bytes) AS maxBytes
RETURN CASE WHEN isOneName THEN name ELSE op END AS opName, compilations, totalBytes, maxBytes
ORDER BY compilations DESC, totalBytes DESC, op
LIMIT $limit
