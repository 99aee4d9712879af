#!/usr/bin/env bash
# Put the dumps of XLAGRAPH_COMMAND, or those in the folder XLAGRAPH_DUMPS, into after/.
set -euo pipefail
work=$RUNNER_TEMP/xlagraph-$XLAGRAPH_NAME
mkdir -p "$work"
if [ -n "$XLAGRAPH_COMMAND" ] && [ -z "$XLAGRAPH_DUMPS" ]; then
    # the environment of xlagraph stays off PATH: the program must not find its Python
    "$RUNNER_TEMP/xlagraph/bin/xlagraph" record --no-ingest --dumps "$work/after" \
        -- bash -eo pipefail -c "$XLAGRAPH_COMMAND"
elif [ -n "$XLAGRAPH_DUMPS" ] && [ -z "$XLAGRAPH_COMMAND" ]; then
    cp -R "$XLAGRAPH_DUMPS" "$work/after"
else
    echo "::error::expected one of the inputs command and dumps"
    exit 2
fi
