"""Modules become scopes of one script, imports first; others are rejected."""

import pytest

from xlagraph.report.page_source import join_modules, page_source

SIZES = "export function humanBytes(bytes) {\n  return `${bytes} B`;\n}\nconst HIDDEN = 1;\n"
MAIN = "import {humanBytes as text} from './parts/sizes.js';\nconsole.log(text(1));\n"


def test_an_import_takes_names_from_the_scope_that_it_needs() -> None:
    script = join_modules({"main.js": MAIN, "parts/sizes.js": SIZES})
    assert script == (
        "'use strict';\n"
        "const $parts_sizes = (() => {\n"
        "function humanBytes(bytes) {\n  return `${bytes} B`;\n}\nconst HIDDEN = 1;\n"
        "return {humanBytes};\n})();\n"
        "\n"
        "const $main = (() => {\n"
        "const {humanBytes: text} = $parts_sizes;\nconsole.log(text(1));\n"
        "return {};\n})();\n"
    )


def test_a_name_that_is_not_exported_is_refused() -> None:
    with pytest.raises(ValueError, match=r"main\.js: sizes\.js does not export HIDDEN"):
        join_modules({"main.js": "import {HIDDEN} from './sizes.js';\n", "sizes.js": SIZES})


def test_a_module_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"main\.js: there is no sizes\.js"):
        join_modules({"main.js": "import {a} from './sizes.js';\n"})


def test_modules_that_import_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="imports itself"):
        join_modules(
            {
                "main.js": "import {a} from './a.js';\n",
                "a.js": "import {b} from './b.js';\nexport const a = 1;\n",
                "b.js": "import {a} from './a.js';\nexport const b = 1;\n",
            }
        )


@pytest.mark.parametrize(
    "line",
    ["export default 1;", "export {a};", "import * as a from './a.js';", "import './a.js';"],
)
def test_other_forms_of_import_and_export_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js: cannot be joined"):
        join_modules({"main.js": f"{line}\n"})


def test_the_page_is_joined_to_one_script_that_its_policy_allows() -> None:
    source = page_source()
    assert "\nimport " not in source.script
    assert "</script" not in source.script
    assert source.policy.startswith("default-src 'none'; script-src 'sha256-")
