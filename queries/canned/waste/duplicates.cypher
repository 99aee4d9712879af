// Values of one op and shape that are live together
// @kind     table
// @answers  Which values of one op and shape are live together N times?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    memorySpace   INTEGER = 0   number of the memory space
// @param    limit         INTEGER = 20  rows to return
// @column   opName        STRING        op name that all of them belong to
// @column   shape         STRING        shape, without layout
// @column   copies        INTEGER       how many are live at the physical peak
// @column   sizeBytes     INTEGER       assigned size of one, the largest if layouts differ
// @column   totalBytes    INTEGER       assigned sizes of all of them
// @column   physicalBytes INTEGER       their own shares of the physical peak
// @column   alike         INTEGER       how many repeat another of them, as far as can be told:
//           the same simple opcode over the same operands, or a fusion over the same scalars,
//           though its inside is not compared
// @column   repeatedBytes INTEGER       shares of these
// @column   repeated      LIST          names of these
// @measure  assigned, physical
// @note     Live together is live at the physical peak, with bytes of its own: of two values
//           that share all bytes in an in-place update one counts.
// @note     Values that belong to no op are left out, and tuple tables.
// @note     Equal op and shape do not make equal values: query, key and value of one layer have
//           both. Two fusions over one array can differ inside, so they are never called alike; nor
//           is what is overwritten in place.
// @empty    no two values of one op and shape are live together at the peak
// @advice   repeatedBytes physical The same value is held many times
// @change   without repeated
// @evidence opName shape copies alike sizeBytes
// @remedy   jax         Make it once and pass it in: masks, position tables and casts of weights
//           before jax.lax.scan or the layers; write x + mask[None, :] instead of
//           jnp.broadcast_to, so that the broadcast fuses.
// @remedy   tensorflow  Make it once outside of the layers and pass it in; leave out tf.broadcast_to
//           and tf.tile, operators broadcast by themselves and fuse.
// @remedy   pytorch     Make it once outside of the layers and pass it in; use expand instead of
//           repeat, and no clone or contiguous that nothing needs.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})<-[p:LIVE_AT_PEAK]-(v:Value)
WITH v, p
WHERE p.physicalBytes > 0 AND NOT v.dtype IN ['tuple', 'token', 'opaque']
      AND v.attributedOpName IS NOT NULL
OPTIONAL MATCH (v)<-[:UPDATES_IN_PLACE]-(n:Value)
WITH v, p, count(n) AS overwriters
OPTIONAL MATCH (v)<-[:DEFINES]-(:Instruction)<-[u:USED_BY]-(o:Value)
// the operands as numbers: how many, the ends of their range, and sums, one weighted by place
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
