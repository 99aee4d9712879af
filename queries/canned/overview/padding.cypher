// Padding at the peaks of all compilations
// @kind     table
// @answers  How much of the peak of all my programs is padding?
// @param    run           STRING = ''       run name; all runs if empty
// @param    memorySpace   INTEGER = 0       memory space number
// @param    limit         INTEGER = 10000   rows to return
// @column   compilation   STRING            key of the compilation
// @column   values        INTEGER           number of padded values live at the peak
// @column   paddingBytes  INTEGER           padding within their shares of the physical peak
// @column   peakBytes     INTEGER           physical peak of the compilation
// @column   share         FLOAT             paddingBytes ÷ peakBytes, 0 to 1
// @column   totalPaddingBytes INTEGER       paddingBytes of all compilations, including those
//           beyond the limit; the same in every row
// @measure  dense, physical
// @note     Bytes that values share in place count once, so padding is never more than the peak.
//           waste/padding lists the values of one compilation.
// @empty    no value at a peak is padded
// @status   experimental
MATCH (r:Run)
WHERE $run = '' OR r.name = $run
WITH r // otherwise one engine starts at the compilations
MATCH (r)-[:COMPILED]->(c:Compilation)-[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
WHERE c.state = 'complete'
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE v.sizeBytes > v.denseBytes AND p.physicalBytes > 0
WITH c.key AS compilation, s.physicalPeakBytes AS peakBytes, count(v) AS values,
     sum(CASE WHEN p.physicalBytes < v.sizeBytes - v.denseBytes THEN p.physicalBytes
              ELSE v.sizeBytes - v.denseBytes END) AS paddingBytes
WITH sum(paddingBytes) AS totalPaddingBytes,
     collect({compilation: compilation, peakBytes: peakBytes, values: values,
              paddingBytes: paddingBytes}) AS found
UNWIND found AS each
RETURN each.compilation AS compilation, each.values AS values,
       each.paddingBytes AS paddingBytes, each.peakBytes AS peakBytes,
       1.0 * each.paddingBytes / each.peakBytes AS share, totalPaddingBytes
ORDER BY paddingBytes DESC, compilation
LIMIT $limit
