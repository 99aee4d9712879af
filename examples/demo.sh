#!/bin/sh
# Answer the usual questions about the example runs. `make demo` runs it; $1 is the folder of the graph.
set -eu
mkdir -p "$1"
rm -f "$1"/demo.lbug*
XLAGRAPH_GRAPH=$1/demo.lbug
export XLAGRAPH_GRAPH

show() {
    printf '\n# %s\n$ %s\n' "$1" "$2"
    sh -c "$2"
}

show 'One training step, compiled five ways, into one graph' \
    'xlagraph ingest examples/runs'
show 'Which training steps are in the graph?' \
    'xlagraph query trend/modules --module jit_train_step | cut -c -128'
show 'What is largest at the peak? (without cut: all columns)' \
    'xlagraph query peak/contributors --compilation baseline/module_0004 --limit 8 | cut -c -97'
show 'Which source line made it?' \
    'xlagraph query peak/by-line --compilation baseline/module_0004 --limit 8'
show 'Which values overwrite which in place, if the arguments are donated?' \
    'xlagraph query alias/in-place --compilation donated/module_0004 --limit 8 | cut -c -105'
show 'What grew with the batch?' \
    'xlagraph compare baseline batch2x'

printf '\nThe graph was written to %s; README.md has more queries.\n' "$XLAGRAPH_GRAPH"
