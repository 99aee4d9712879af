// Kernels of a TPU over all compilations, by the VMEM that they take
// @kind     table
// @answers  Which kernels of my programs take the most VMEM, and which are close to their limit?
// @param    run             STRING = ''     run name; all runs if empty
// @param    target          STRING = 'tpu_custom_call' target of the custom calls; empty for every instruction
// @param    limit           INTEGER = 50    rows to return
// @column   compilation     STRING          key of the compilation
// @column   instruction     STRING          the kernel
// @column   scopedBytes     INTEGER         VMEM that it takes while it runs: blocks, their second buffers, scratch
//           null where the dump does not state it
// @column   smemBytes       INTEGER         SMEM that it takes while it runs; null where the dump does not state it
// @column   limitBytes      INTEGER         most VMEM that it may take so; null where XLA states none
// @column   opName          STRING          op name, as the framework set it
// @column   sourceFile      STRING          source file
// @column   sourceLine      INTEGER         line in that file
// @measure  assigned
// @note     The bytes are in the dump …after_codegen.txt and in profiles, and in no allocation. Other
//           dumps have only the kernels and the limits that they set.
// @status   experimental
MATCH (r:Run)-[:COMPILED]->(c:Compilation)-[:SCHEDULES]->(i:Instruction)
WHERE c.state = 'complete' AND ($run = '' OR r.name = $run)
      AND (i.scopedBytes IS NOT NULL OR i.target = 'tpu_custom_call')
      AND ($target = '' OR i.target = $target)
RETURN c.key AS compilation, i.name AS instruction, i.scopedBytes AS scopedBytes,
       i.scopedSmemBytes AS smemBytes, i.scopedLimitBytes AS limitBytes, i.opName AS opName, i.sourceFile AS sourceFile,
       i.sourceLine AS sourceLine
ORDER BY coalesce(i.scopedBytes, -1) DESC, compilation, instruction
LIMIT $limit
