#!/bin/sh
# What a user comes for, over the example runs. Run by `make demo`; $1: where the graph goes.
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
show 'What is in the graph?' \
    'xlagraph query trend/modules --module jit_train_step | cut -c -128'
show 'What is biggest at the peak? (all columns: without cut)' \
    'xlagraph query peak/contributors --compilation baseline/module_0004 --limit 8 | cut -c -97'
show 'Which source line made it?' \
    'xlagraph query peak/by-line --compilation baseline/module_0004 --limit 8'
show 'Who overwrites whom in place, where the arguments are donated?' \
    'xlagraph query alias/in-place --compilation donated/module_0004 --limit 8 | cut -c -105'
show 'What grew with the batch?' \
    'xlagraph compare baseline batch2x'

printf '\nThe graph stays in %s; see README.md for what else to ask it.\n' "$XLAGRAPH_GRAPH"
