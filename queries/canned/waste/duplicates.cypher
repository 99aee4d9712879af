// Values of the same op and shape that are live together
// @kind     table
// @answers  Which values of the same op and shape are live together N times?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   memory space number
// @param    limit         INTEGER = 20  rows to return
// @column   opName        STRING        op name that all the values belong to
// @column   shape         STRING        shape, without layout
// @column   copies        INTEGER       number of such values live at the physical peak
// @column   sizeBytes     INTEGER       assigned size of one value; the largest if layouts differ
// @column   totalBytes    INTEGER       total assigned size of the copies
// @column   physicalBytes INTEGER       total share of the physical peak
// @column   alike         INTEGER       number of copies that appear to repeat another: the same
//           simple opcode with the same operands, or a fusion with the same scalar operands, whose
//           body is not compared
// @column   repeatedBytes INTEGER       total physical peak share of the values in repeated
// @column   repeated      LIST          names of the values counted by alike
// @measure  assigned, physical
// @note     Values are live together if they are live at the physical peak in different bytes: two
//           values that share all bytes in an in-place update count once.
// @note     Values without an op, and tuple tables, are excluded.
// @note     Values of the same op and shape may differ: query, key and value of one layer have
//           both. Two fusions over the same array can have different bodies, so they never count in
//           alike; nor do values that are overwritten in place.
// @empty    no two values of the same op and shape are live together at the peak
// @advice   repeatedBytes physical Values of the same op and operands are held many times
// @change   without repeated
// @evidence opName shape copies alike sizeBytes
// @remedy   jax         If they are equal, the compiler repeated them after it had merged equal
//           computations: no edit is known to remove them. x + mask[None, :] instead of
//           jnp.broadcast_to lets a broadcast fuse.
// @remedy   tensorflow  If they are equal, the compiler repeated them after it had merged equal
//           computations: no edit is known to remove them.
// @remedy   pytorch     If they are equal, the compiler repeated them after it had merged equal
//           computations: no edit is known to remove them.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH v, p
WHERE p.physicalBytes > 0 AND NOT v.dtype IN ['tuple', 'token', 'opaque']
      AND v.attributedOpName IS NOT NULL
OPTIONAL MATCH (v)<-[:UPDATES_IN_PLACE]-(n:Value)
WITH v, p, count(n) AS overwriters
OPTIONAL MATCH (v)<-[:DEFINES]-(:Instruction)<-[u:USED_BY]-(o:Value)
// the operands as numbers: count, smallest, largest, and sums, one weighted by position
WITH v, p, overwriters, v.opcode AS opcode, count(o) AS operands,
     coalesce(min(o.valueId), -1) AS least, coalesce(max(o.valueId), -1) AS most,
     coalesce(sum(o.valueId), 0) AS total,
     coalesce(sum(o.valueId * (1 + u.operand)), 0) AS weighted,
     coalesce(max(o.sizeBytes), 0) AS widest
WITH v.attributedOpName AS opName, v.shape AS shape, opcode, operands, least, most, total,
     weighted,
     v.lastUse IS NOT NULL AND overwriters = 0
     AND ((opcode IN ['copy', 'convert', 'transpose', 'broadcast', 'all-gather'] AND operands > 0)
          OR opcode = 'iota' OR (opcode = 'fusion' AND widest <= 8)) AS telling,
     min(v.label) AS kept, collect({label: v.label, sizeBytes: v.sizeBytes,
                                    physicalBytes: p.physicalBytes}) AS members
UNWIND members AS member
WITH opName, shape, member, telling AND member.label <> kept AS repeats
WITH opName, shape, count(*) AS copies, max(member.sizeBytes) AS sizeBytes,
     sum(member.sizeBytes) AS totalBytes, sum(member.physicalBytes) AS physicalBytes,
     sum(CASE WHEN repeats THEN 1 ELSE 0 END) AS alike,
     sum(CASE WHEN repeats THEN member.physicalBytes ELSE 0 END) AS repeatedBytes,
     collect(CASE WHEN repeats THEN member.label ELSE null END) AS repeated
WHERE copies > 1
RETURN opName, shape, copies, sizeBytes, totalBytes, physicalBytes, alike, repeatedBytes, repeated
ORDER BY totalBytes DESC, opName, shape
LIMIT $limit
