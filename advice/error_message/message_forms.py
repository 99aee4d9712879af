"""Forms of the sentences and lines that report an out-of-memory failure.

    message  = headline { section | list | statistics }
    section  = header { part }                            sizes of kinds of memory
    list     = header { entry }                           largest allocations, or peak buffers
    entry    = ( "1. Size: " SIZE | "Buffer 1:" ) { field } "====="

An example line precedes each form. Headlines are searched for anywhere in a line; all
others must match at its beginning, after the prefix of the log was removed.
"""

import re
from typing import Final

from xlagraph.presentation.byte_sizes import parse_bytes

SIZE: Final = (
    r"\d{1,20}(?:(?:\.\d{1,9})? ?(?:[KMGTPE](?:i?B)?|B)(?![A-Za-z])|(?!\.\d|\d| ?[KMGTPE]i?\Z))"
)
"""Pattern of a size. A text with a truncated unit is not a size: `1.50`, `12Gi`."""


def printed_bytes(text: str | None) -> int | None:
    """Return the bytes of a printed size; None if given None."""
    return None if text is None else parse_bytes(text)


def rounded(size_bytes: int) -> str:
    """Return a size with two decimals of a unit, which is equal in all messages of one request."""
    magnitude, power = float(size_bytes), 0
    while magnitude >= 1024:
        magnitude /= 1024
        power += 1
    return f"{magnitude:.2f}·{power}" if power else str(size_bytes)


def _form(pattern: str) -> re.Pattern[str]:
    """Compile a form in which `SIZE` is replaced by the pattern of a size."""
    return re.compile(pattern.replace("SIZE", SIZE))


# --- headlines

# RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory …
CODE: Final = re.compile(r"\b(?P<code>E[0-9]{4}): ?[A-Z][A-Za-z]+")
# Ran out of memory in memory space hbm. Used 18.50G of 15.75G hbm. Exceeded hbm capacity by 2.75G.
SPACE_EXHAUSTED: Final = _form(
    r"[Rr]an out of memory in memory space(?:\s+(?P<space>\w+))?"
    r"(?: while allocating on stack for (?P<instruction>%[^\s=]+))?"
)
# Used 18.50G of 15.75G hbm.
USED_OF: Final = _form(r"\bUsed (?P<used>SIZE) of (?P<capacity>SIZE)")
# Exceeded hbm capacity by 2.75G.
EXCEEDED: Final = _form(r"\bExceeded \w+ capacity by (?P<exceeded>SIZE)")
# Scoped allocation with size 20.00M and limit 16.00M exceeded scoped vmem limit by 4.00M.
SCOPED: Final = _form(
    r"\bScoped allocation (?:with size|of) (?P<used>SIZE)(?: and limit (?P<capacity>SIZE))?"
    r" exceeded scoped (?P<space>\w+) limit by (?P<exceeded>SIZE)"
)
# TPU TensorCore Hbm usage: 30.00G, SparseCore Hbm usage 100.00G, exceeding available bytes: 90.00G
TWO_CORES: Final = _form(
    r"TensorCore Hbm usage:? (?P<tensor>SIZE), SparseCore Hbm usage:? (?P<sparse>SIZE),"
    r" exceeding available bytes:? (?P<capacity>SIZE)"
)
# Ran out of memory on HBM, the total memory required for HLO temporaries (29.85G) exceeds available
# HBM (15.75G).
TEMPORARIES: Final = _form(
    r"[Rr]an out of memory on (?P<space>\w+), the total memory required for [\w ]{1,80}"
    r" \((?P<used>SIZE)\) exceeds available \w+ \((?P<capacity>SIZE)\)"
)
# Allocation (size=2048) would exceed memory (size=1024) :: #allocation7 [shape = 'u8[2048]{0}',
# space=vmem, size = 0x800, tag = 'scoped memory for kernel.2'] :: kernel.2
ONE_ALLOCATION: Final = re.compile(
    r"Allocation (?:\(size=(?P<used>\d+)\) )?would exceed memory \(size=(?P<capacity>\d+)\)"
)
ONE_ALLOCATION_SHAPE: Final = re.compile(r"\[shape = '(?P<shape>[^']{0,2000})'")
ONE_ALLOCATION_SPACE: Final = re.compile(r"\bspace=(?P<space>\w+)(?P<scoped>, scoped\b)?")
ONE_ALLOCATION_TAG: Final = re.compile(
    r"\btag = '(?P<tag>(?:output of |scoped memory for )?(?P<instruction>[\w.-]+)?[^']*)"
)
# Attempting to reserve 4.00G at the bottom of memory. That was not possible. There are 2.00G
# free, 0B reserved, and 1.50G reservable.
NOT_POSSIBLE: Final = _form(
    r"[Aa]ttempting to (?:allocate|reserve) (?P<asked>SIZE)[^.]{0,200}\. That was not possible"
    r"(?:\. There are (?P<free>SIZE) free"
    r"(?:, SIZE reserved, and (?P<reservable>SIZE) reservable)?)?"
)
# Error loading program 'jit_step': Attempting …
LOADING: Final = re.compile(r"Error loading program(?: '(?P<module>[^']+)')?")
# Due to fragmentation, the largest contiguous region of free memory is 30.56M.
CONTIGUOUS: Final = _form(r"largest contiguous region of free memory is (?P<contiguous>SIZE)")
# Out of memory while trying to allocate 4096 bytes.
OUT_OF_MEMORY: Final = _form(
    r"[Oo]ut of memory (?:while trying to allocate|allocating)(?: (?P<asked>SIZE))?"
)
# Failed to allocate request for 1.00GiB (1073741824B) on device ordinal 0
FAILED_REQUEST: Final = _form(
    r"[Ff]ailed to allocate request for (?P<asked>SIZE)(?: \((?P<bytes>\d+)B\))?"
)
# failed to allocate 1.00GiB (1073741824 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY
DRIVER_REFUSED: Final = _form(r"failed to allocate SIZE \((?P<bytes>\d+) bytes\) from device")
# Failed to allocate 4096 bytes. Memory limit: 2048 bytes. Used: 1024 bytes.
MEMORY_LIMIT: Final = re.compile(
    r"[Ff]ailed to allocate (?:node \()?(?P<asked>\d+) bytes\)?\."
    r" Memory limit: (?P<capacity>\d+) \[?bytes\]?\. Used: (?P<used>\d+)"
)
# Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB (rounded to 1073741824)
BFC_EXHAUSTED: Final = _form(
    r"Allocator \((?P<allocator>[^)]{0,100})\) ran out of memory trying to allocate (?P<asked>SIZE)"
    r"(?: \(rounded to (?P<bytes>\d+)\))?"
)
# gpu_async_0 cuMemAllocAsync failed to allocate 4096 bytes: RESOURCE_EXHAUSTED: …
ASYNC_EXHAUSTED: Final = re.compile(
    r"(?:(?P<allocator>\w+) )?cuMemAllocAsync failed to allocate (?P<bytes>\d+) bytes"
)
# Failed to load in-memory CUBIN (compiled for a different GPU?).: CUDA_ERROR_OUT_OF_MEMORY: …
CUBIN: Final = re.compile(r"Failed to load in-memory CUBIN\b.{0,80}CUDA_ERROR_OUT_OF_MEMORY")
# Failed to allocate 4096 bytes for new constant
CONSTANT: Final = re.compile(r"[Ff]ailed to allocate (?P<bytes>\d+) bytes for new constant")
# Shared memory size limit exceeded: requested 114688, available: 101376
# out of resource: shared memory, Required: 131072, Hardware limit: 101376.
SHARED_MEMORY: Final = re.compile(
    r"(?:Shared memory size limit exceeded: requested:?|out of resource: shared memory, Required:)"
    r" (?P<asked>\d+), (?:available|Hardware limit):? (?P<there>\d+)"
)
# Shared memory requested exceeds device resources
SHARED_EXCEEDED: Final = re.compile("Shared memory requested exceeds device resources")
# Can't reduce memory use below 8.00GiB (8589934592 bytes) by rematerialization; only reduced to
# 10.00GiB (10737418240 bytes), down from 12.00GiB (12884901888 bytes) originally
REMATERIALIZATION: Final = _form(
    r"Can't reduce memory use below SIZE(?: \((?P<limit>\d+) bytes\))? by rematerialization"
    r"(?:; only reduced to SIZE(?: \((?P<reached>\d+) bytes\))?"
    r"(?:, down from SIZE(?: \((?P<original>\d+) bytes\))?)?)?"
)
# The byte size of input/output arguments (9663676416) exceeds the base limit (8589934592).
ARGUMENTS: Final = re.compile(
    r"byte size of input/output arguments \((?P<arguments>\d+)\) exceeds the base limit"
    r" \((?P<limit>\d+)\)"
)
NOT_A_FAILURE: Final = "this is not a failure"
# OOM when allocating tensor with shape[64,128] and type float on /device:GPU:0 by allocator a_bfc
TENSOR: Final = re.compile(
    r"OOM when allocating tensor with shape ?\[(?P<dimensions>[\d, ]*)\]"
    r"(?: and type (?P<type>\w+))?(?: on \S+)?(?: by allocator (?P<allocator>\w+))?"
)
# [executable_name='jit_step']
EXECUTABLE: Final = re.compile(r"\[executable_name='(?P<module>[^']+)'")
# what a status says that fits no form above
EXHAUSTED: Final = re.compile(r"RESOURCE_EXHAUSTED|Resource exhausted|ResourceExhaustedError")

# --- sections

# Total hbm usage >= 19.00G:
TOTAL_HEADER: Final = _form(r"\s*Total (?P<space>\w+) usage >= SIZE:")
# Program hbm requirement 18.50G:
PROGRAM_HEADER: Final = _form(r"\s*Program (?P<space>\w+) requirement SIZE:")
# Persistent allocations include some or all of:
PERSISTENT_HEADER: Final = re.compile(r"\s*Persistent allocations include")
# BufferAssignment stats:
ASSIGNMENT_HEADER: Final = re.compile(r"\s*BufferAssignment stats:")
#     HLO temp         18.40G (90.0% utilization: Unpadded (6.40G) Padded (18.40G), 0.3% …
PART: Final = _form(
    r"\s*(?P<name>[A-Za-z][\w()/-]*(?: [\w()/-]+)*):?\s+(?P<size>SIZE|unknown size)"
    r"(?=\s|$)(?:.*?Unpadded \((?P<unpadded>SIZE)\) Padded \((?P<padded>SIZE)\))?"
)
# Output size 4.00G; shares 1.00G with arguments.
OUTPUT: Final = _form(r"\s*Output size (?P<size>SIZE)(?:; shares (?P<shared>SIZE) with arguments)?")
# HBM capacity 8.00G:
CAPACITY: Final = _form(r"\s*\w+ capacity (?P<capacity>SIZE):")
#     Currently allocated:    6.08G (   6,532,939,776 bytes)
ALLOCATED: Final = _form(r"\s*Currently allocated:\s+(?P<used>SIZE)")

# --- lists

#   Largest program allocations in hbm:
LIST_HEADER: Final = re.compile(r"\s*Largest program allocations in|\s*Peak buffers:")
#   1. Size: 512.00M        and: Buffer 1:
ENTRY: Final = _form(r"\s*(?:(?P<number>\d+)\. Size: (?P<size>SIZE)|Buffer \d+:)")
#      Operator: op_type="dot" op_name="jit(f)/dot" source_file="/home/me/a.py" source_line=7
FIELD: Final = re.compile(
    r"\s*(?P<field>Size|Operator|Shape|Entry Parameter Subshape|Unpadded size|XLA [Ll]abel"
    r"|Allocation type|Tag): ?(?P<text>.*)"
)
ENTRY_END: Final = re.compile(r"\s*={8,}")
OP_NAME: Final = re.compile(r'\bop_name="(?P<op>(?:[^"\\]|\\.)*)"')
SOURCE_FILE: Final = re.compile(r'\bsource_file="(?P<file>(?:[^"\\]|\\.)*)"')
SOURCE_LINE: Final = re.compile(r"\bsource_line=(?P<line>\d+)")
# %fusion.7 = f32[8]{0} fusion(…)
INSTRUCTION: Final = re.compile(r"%?(?P<name>[\w.-]+) = ")
# jit(train_step)/jit(main)/dot_general
MODULE_OF_OP: Final = re.compile(r"(?P<kind>p?jit|pmap|xmap)\((?P<function>[^()]+)\)")

# --- statistics of the allocator

# Limit:                     1073741824
STATISTIC: Final = re.compile(r"\s*(?P<name>Limit|InUse):\s+(?P<bytes>\d+)\s*$")
#  Reported by CUDA: Free memory/Total memory: 1073741824/8589934592
FREE_OF_TOTAL: Final = re.compile(r"Free memory/Total memory: (?P<free>\d+)/(?P<total>\d+)")
# Total bytes in pool: 512 memory_limit_: 1024 available bytes: 512 curr_region_…
POOL: Final = re.compile(r"memory_limit_: (?P<limit>\d+)")

# --- Python

TRACEBACK: Final = re.compile(r"Traceback \(most recent call last\)")
#   File "/home/me/train.py", line 12, in step
FRAME: Final = re.compile(
    r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?'
)
# File ~/train.py:12, in step(x)        and: Cell In[5], line 3
NOTEBOOK_FRAME: Final = re.compile(
    r"\s*(?:File (?P<file>[^\s:\"]+):(?P<line>\d+), in (?P<function>[\w<>]+)"
    r"|(?P<cell>Cell In ?\[\d+\]), line (?P<cell_line>\d+))"
)
# /home/me/train.py in step(x)          and below it: ---> 21     y = f(x)
OLD_NOTEBOOK_FRAME: Final = re.compile(
    r"(?P<file>\S+\.py|<ipython-input-\S+>) in (?P<function>[\w<>]+)"
)
OLD_NOTEBOOK_LINE: Final = re.compile(r"-+> (?P<line>\d+) ")
