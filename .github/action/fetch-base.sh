#!/usr/bin/env bash
# Fetch the dumps of the base branch into before/: those of the base commit, or else the newest.
# Only pushes count: a fork may call its own branch like the base branch.
set -euo pipefail
work=$RUNNER_TEMP/xlagraph-$XLAGRAPH_NAME
artifact=xlagraph-$XLAGRAPH_NAME
runs=$(gh run list --branch "$BASE_BRANCH" --event push --limit 20 \
    --json databaseId,headSha --jq '.[] | "\(.headSha) \(.databaseId)"')
ordered=$(grep "^$BASE_COMMIT " <<<"$runs" || true; grep -v "^$BASE_COMMIT " <<<"$runs" || true)
while read -r commit run; do
    if [ -n "$run" ] && gh run download "$run" --name "$artifact" --dir "$work/before" 2>/dev/null
    then
        echo "comparing with $BASE_BRANCH at $commit"
        exit 0
    fi
done <<<"$ordered"
echo "::notice::no artifact $artifact of $BASE_BRANCH: nothing to compare with yet"
