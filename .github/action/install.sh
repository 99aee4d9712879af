#!/usr/bin/env bash
# Install xlagraph from this checkout into its own environment, so that the packages of the
# program stay as they are.
set -euo pipefail
python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "::error::xlagraph needs Python 3.11 or newer: use actions/setup-python before this action"
    exit 1
}
python -m venv "$RUNNER_TEMP/xlagraph"
"$RUNNER_TEMP/xlagraph/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$GITHUB_ACTION_PATH"
