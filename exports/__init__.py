"""Writers of files for other tools: pprof, speedscope, Perfetto, XProf, MiniMalloc, Parquet, CSV.

The writers read an open graph and take complete keys of compilations, or names of runs. pprof,
Perfetto and XProf need the extra `proto`.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.exports.file_formats import NothingToExport
    from xlagraph.exports.minimalloc_file import write_minimalloc
    from xlagraph.exports.perfetto_trace import write_perfetto
    from xlagraph.exports.pprof_profile import write_pprof
    from xlagraph.exports.speedscope_file import write_speedscope
    from xlagraph.exports.table_files import TableFormat, write_tables
    from xlagraph.exports.xprof_profile import write_xprof

__all__ = [
    "NothingToExport",
    "TableFormat",
    "write_minimalloc",
    "write_perfetto",
    "write_pprof",
    "write_speedscope",
    "write_tables",
    "write_xprof",
]

__getattr__ = lazy_names(__name__)
