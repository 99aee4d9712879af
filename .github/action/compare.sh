#!/usr/bin/env bash
# Compare before/ with after/, write comment.md, and say as outputs whether the limits hold.
set -euo pipefail
work=$RUNNER_TEMP/xlagraph-$XLAGRAPH_NAME
xlagraph=$RUNNER_TEMP/xlagraph/bin/xlagraph
export XLAGRAPH_GRAPH=$work/graph.lbug
unset NEO4J_URI
worst=0

# A limit that is exceeded, exit code 4, is no reason to stop before the comment is written.
gate() {
    local code=0
    "$xlagraph" "$@" || code=$?
    if [ "$code" -eq 4 ]; then worst=4; elif [ "$code" -ne 0 ]; then exit "$code"; fi
}

"$xlagraph" ingest "$work/after" --run after
comparison=
{
    echo "<!-- xlagraph $XLAGRAPH_NAME -->"
    [ "$XLAGRAPH_NAME" = plan ] || printf '### %s\n\n' "$XLAGRAPH_NAME"
} >"$work/comment.md"
if [ -d "$work/before" ]; then
    "$xlagraph" ingest "$work/before" --run before
    comparison=$work/comparison.md
    gate compare before after ${MAX_GROWTH:+--max-growth "$MAX_GROWTH"} \
        --format md --output "$comparison"
    cat "$comparison" >>"$work/comment.md"
else
    echo "The base branch has no memory plan yet: nothing to compare with." >>"$work/comment.md"
fi
if [ -n "$CAPACITY" ]; then
    gate check after --capacity "$CAPACITY" --format md --output "$work/capacity.md"
    { echo; cat "$work/capacity.md"; } >>"$work/comment.md"
fi
[ "$SARIF" != true ] || "$xlagraph" advise after --format sarif --output "$work/memory.sarif"
cat "$work/comment.md" >>"$GITHUB_STEP_SUMMARY"
{ echo "comparison=$comparison"; echo "exit-code=$worst"; } >>"$GITHUB_OUTPUT"
