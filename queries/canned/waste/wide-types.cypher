// Values of a wide element type
// @kind     table
// @answers  Which values of a wide type (f32, f64, s64) are largest?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   dtype         STRING        element type
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   role          STRING        role of the allocation that contains the value
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @column   memorySpace   INTEGER       memory space of the allocation
// @column   halfBytes     INTEGER       bytes saved at the physical peak by halving the width; null
//           for inputs, outputs and constants, and if not live at that peak
// @column   memorySpaceName STRING        such as HBM or VMEM; null where XLA has none
// @shown    value dtype sizeBytes userFile physicalBytes halfBytes attributedOpName
// @measure  assigned, physical
// @empty    no value is of type f32, f64 or s64
// @advice   halfBytes physical Intermediate values at the peak are of a wide type
// @change   half
// @evidence value dtype shape attributedOpName userFile userLine
// @remedy   jax         If the numerics allow, compute in half the width: x.astype(jnp.bfloat16),
//           a module's dtype=jnp.bfloat16 (parameters can stay f32); for f64 and s64 leave
//           jax_enable_x64 off.
// @remedy   tensorflow  If the numerics allow:
//           tf.keras.mixed_precision.set_global_policy('mixed_bfloat16') (variables stay float32);
//           instead of tf.float64 and tf.int64 use tf.float32 and tf.int32.
// @remedy   pytorch     If the numerics allow: torch.autocast('xla', dtype=torch.bfloat16), or
//           model.to(torch.bfloat16); instead of int64 indices that are kept use int32.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.dtype IN ['f32', 'f64', 's64']
WITH c, a, v ORDER BY v.sizeBytes DESC, v.label LIMIT $limit
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.dtype AS dtype, v.sizeBytes AS sizeBytes,
       p.physicalBytes AS physicalBytes, a.role AS role,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine,
       a.memorySpace AS memorySpace,
       CASE WHEN a.role IN ['temp', 'liveOut', 'output'] AND v.liveUntil < c.scheduleLength
            THEN p.physicalBytes / 2 ELSE null END AS halfBytes,
       s.name AS memorySpaceName
ORDER BY sizeBytes DESC, value
LIMIT $limit
