#!/usr/bin/env bash
# Write comment.md into the pull request: into the comment that is there already, or a new one.
set -euo pipefail
work=$RUNNER_TEMP/xlagraph-$XLAGRAPH_NAME
# a comment has at most 65,536 characters
head -c 65000 "$work/comment.md" >"$work/body.md"
comments=repos/$GH_REPO/issues/$PULL_REQUEST/comments
marked="select(.body | startswith(\"<!-- xlagraph $XLAGRAPH_NAME -->\"))"
if ! found=$(gh api "$comments" --paginate --jq ".[] | $marked | .id"); then
    echo "::warning::the comments cannot be read; the summary of the job has the comparison"
    exit 0
fi
found=${found%%$'\n'*}
if [ -n "$found" ]; then
    target=(--method PATCH "repos/$GH_REPO/issues/comments/$found")
else
    target=(--method POST "$comments")
fi
gh api "${target[@]}" --field "body=@$work/body.md" --silent ||
    # the token of a pull request from a fork may only read
    echo "::warning::no comment could be written; the summary of the job has the comparison"
