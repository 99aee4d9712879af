"""Hand-written out-of-memory messages, one of each form, with simple numbers."""

TPU_PLAN = """\
RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: XLA:TPU compile permanent error. \
Ran out of memory in memory space hbm. Used 12.00G of 8.00G hbm. Exceeded hbm capacity by 4.00G.

Total hbm usage >= 14.50G:
    reserved        512.00M
    program          12.00G
    arguments         2.00G

Output size 2.00G; shares 512.00M with arguments.

Program hbm requirement 12.00G:
    global            64.0K
    scoped             1.00M
    HLO temp         12.00G (50.0% utilization: Unpadded (6.00G) Padded (12.00G), 0.5% \
fragmentation (64.00M))

  Largest program allocations in hbm:

  1. Size: 4.00G
     Operator: op_name="jit(train)/jit(main)/mul" source_file="/home/ann/model.py" source_line=12
     Shape: f32[1024,1024,8]{2,1,0:T(8,128)}
     Unpadded size: 256.00M
     Extra memory due to padding: 3.75G (16.0x expansion)
     XLA label: %fusion.1 = f32[1024,1024,8]{2,1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop
     Allocation type: HLO temp
     ==========================

  2. Size: 2.00G
     Operator: op_name="jit(train)/jit(main)/mul" source_file="/home/ann/model.py" source_line=12
     Shape: bf16[1024,1024,1024]{2,1,0:T(8,128)(2,1)}
     Unpadded size: 2.00G
     XLA label: %fusion.2 = bf16[1024,1024,1024]{2,1,0} fusion(f32[8]{0} %p.1), kind=kLoop
     Allocation type: HLO temp
     ==========================

  3. Size: 3.00G
     Shape: u8[3221225472]{0}
     Unpadded size: 3.00G
     XLA label: %copy.9 = u8[3221225472]{0} copy(u8[3221225472]{0} %p.2)
     Allocation type: HLO temp
     ==========================

"""

TPU_BARE = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm."
    " Used 40.00G of 32.00G hbm. Exceeded hbm capacity by 8.00G."
)

TPU_TEMPORARIES = (
    "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries"
    " (24.00G) exceeds available HBM (16.00G)."
)

TPU_TWO_CORES = (
    "RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: 24.00G, SparseCore Hbm usage 80.00G,"
    " exceeding available bytes: 96.00G"
)

TPU_ONE_ALLOCATION = (
    "RESOURCE_EXHAUSTED: Allocation (size=4096) would exceed memory (size=1024) :: #allocation3"
    " [shape = 'f32[8,16]{1,0:T(8,128)}', space=hbm, size = 0xffffffffffffffff,"
    " tag = 'output of add_fusion@{}'] :: <no-hlo-instruction>"
)

TPU_BUFFER = (
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 3.00G. That was"
    " not possible. There are 1.00G free.; (0x0x0_HBM0)"
)

TPU_PROGRAM = (
    "RESOURCE_EXHAUSTED: E0101: RuntimeProgramAllocationFailure: Error loading program"
    " 'jit_serve': Attempting to reserve 6.00G at the bottom of memory. That was not possible."
    " There are 5.00G free, 0B reserved, and 2.00G reservable. Scope: unknown..: while running"
)

TPU_RUNTIME_TABLE = """\
RuntimeError: Resource exhausted: From /job:tpu_worker/replica:0/task:0:
Attempting to reserve 4.00G at the bottom of memory. That was not possible. There are 2.00G free, \
0B reserved, and 2.00G reservable.; \

HBM capacity 8.00G:
       Top-of-Memory reserved:  512.00M (     536,870,912 bytes)
          Currently allocated:    5.50G (   5,905,580,032 bytes)
          Program requirement:    4.00G (   4,294,967,296 bytes)
                               ------------
      Available after request:   -2.00G (  -2,147,483,648 bytes)

Total hbm usage >= 9.50G:
    reserved(Infeed/Outfeed/Continuations) 512.00M
    heap allocations (without fragmentation)   5.00G
    program                    4.00G
"""

VMEM_SCOPED = (
    "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\n"
    "Ran out of memory in memory space vmem while allocating on stack for %attention.3 ="
    " bf16[64,64]{1,0:T(8,128)(2,1)} custom-call(%a.1, %b.1),"
    ' custom_call_target="tpu_custom_call", metadata={op_name="jit(decode)/pallas_call"'
    " stack_frame_id=3}. Scoped allocation with size 24.00M and limit 16.00M exceeded scoped vmem"
    " limit by 8.00M. It should not be possible to run out of scoped vmem"
)

VMEM = (
    "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem. Used 20.00M of 16.00M vmem."
    " Exceeded vmem capacity by 4.00M."
)

ASSIGNMENT = """\
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    1.00GiB
              constant allocation:         0B
        maybe_live_out allocation:    2.00GiB
     preallocated temp allocation:    4.00GiB
  preallocated temp fragmentation:   24.00MiB (0.59%)
                 total allocation:    7.00GiB
              total fragmentation:   24.00MiB (0.33%)
Peak buffers:
\tBuffer 1:
\t\tSize: 3.00GiB
\t\tOperator: op_name="jit(step)/jit(main)/exp" source_file="/home/ann/loss.py" source_line=7
\t\tXLA Label: fusion
\t\tShape: f32[1024,786432]
\t\t==========================

\tBuffer 2:
\t\tSize: 1.00GiB
\t\tEntry Parameter Subshape: f32[1024,262144]
\t\t==========================

"""

GPU_ERROR = f"""\
RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4294967000 bytes.
{ASSIGNMENT}"""

BFC = """\
Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.00GiB (rounded to 4294967296)\
requested by op
"""

BFC_STATISTICS = """\
Stats:
Limit:                     17179869184
InUse:                     15032385536
MaxInUse:                  16106127360
NumAllocs:                        1234
MaxAllocSize:               8589934592
"""

TENSOR = (
    "ResourceExhaustedError: {{function_node __wrapped__MatMul}} OOM when allocating tensor with"
    " shape[1024,1024] and type half on /job:localhost/replica:0/task:0/device:GPU:0 by allocator"
    " GPU_0_bfc [Op:MatMul]"
)

CPU = "RESOURCE_EXHAUSTED: Out of memory allocating 1099511627776 bytes."

CUBIN = (
    "E1122 00:10:47.231964  2903 client.cc:30] Execution of replica 0 failed: RESOURCE_EXHAUSTED:"
    " Failed to load in-memory CUBIN (compiled for a different GPU?).: CUDA_ERROR_OUT_OF_MEMORY:"
    " out of memory"
)

SHARED_MEMORY = (
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested"
    " 131072, available: 98304"
)

TRITON = (
    "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072,"
    " Hardware limit: 98304. Reducing block sizes or `num_stages` may help."
)

CUDA_ASYNC = """\
E1103 18:23:55.101761 34 allocator.cc:361] gpu_async_3 cuMemAllocAsync failed to allocate \
4294967296 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory
 Reported by CUDA: Free memory/Total memory: 1073741824/8589934592
E1103 18:23:55.101869 34 allocator.cc:366] Stats: Limit:                               0
InUse:                     6442450944
"""

NAMED_EXECUTABLE = (
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes."
    " [executable_name='jit_step']"
)

REMATERIALIZATION = (
    "W0101 00:00:00.000000 7 hlo_rematerialization.cc:30] Can't reduce memory use below 8.00GiB"
    " (8589934592 bytes) by rematerialization; only reduced to 10.00GiB (10737418240 bytes), down"
    " from 12.00GiB (12884901888 bytes) originally"
)

ARGUMENTS = (
    "W0101 00:00:00.000000 7 gpu_compiler.cc:30] The byte size of input/output arguments"
    " (9663676416) exceeds the base limit (8589934592). This indicates an error in the calculation!"
)

CONSTANT = "RESOURCE_EXHAUSTED: Failed to allocate 1073741824 bytes for new constant"
