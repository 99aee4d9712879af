// VMEM that kernels and fusions of a TPU take while they run
// @kind     table
// @answers  How much VMEM does each kernel take, how close is it to its limit, and where is it called?
// @param    compilation   STRING          key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20    rows to return
// @column   instruction   STRING          the kernel
// @column   opcode        STRING          custom-call of a Pallas kernel, fusion, …
// @column   target        STRING          target of a custom call: tpu_custom_call of Pallas
// @column   scopedBytes   INTEGER         VMEM that it takes while it runs: blocks, their second buffers, scratch
//           null where the dump does not state it
// @column   smemBytes     INTEGER         SMEM that it takes while it runs; null where the dump does not state it
// @column   limitBytes    INTEGER         most VMEM that it may take so; null where XLA states none: then the TPU's default
// @column   limitShare    FLOAT           fraction of the limit, 0 to 1; null without a limit
// @column   opName        STRING          op name, as the framework set it
// @column   sourceFile    STRING          source file
// @column   sourceLine    INTEGER         line in that file
// @column   step          INTEGER         position in the schedule
// @shown    instruction target scopedBytes limitBytes limitShare sourceFile sourceLine …
// @measure  assigned
// @note     XLA writes these bytes when it generates code: into the dump …after_codegen.txt and into
//           profiles. They are not part of any allocation. Other dumps have only the kernels and the
//           limits that kernels set (vmem_limit_bytes), also if the compilation failed.
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[h:SCHEDULES]->(i:Instruction)
WHERE i.scopedBytes IS NOT NULL OR i.scopedSmemBytes IS NOT NULL
      OR i.target = 'tpu_custom_call'
RETURN i.name AS instruction, i.opcode AS opcode, i.target AS target,
       i.scopedBytes AS scopedBytes, i.scopedSmemBytes AS smemBytes,
       i.scopedLimitBytes AS limitBytes,
       CASE WHEN i.scopedLimitBytes > 0 THEN 1.0 * i.scopedBytes / i.scopedLimitBytes
            ELSE null END AS limitShare,
       i.opName AS opName, i.sourceFile AS sourceFile, i.sourceLine AS sourceLine, h.step AS step
ORDER BY coalesce(i.scopedBytes, -1) DESC, step, instruction
LIMIT $limit
