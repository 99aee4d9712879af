"""Reading the user's categories."""

import pytest

from xlagraph.ingest.options import read_categories


def test_each_category_has_patterns_in_the_order_of_the_file(tmp_path):
    file = tmp_path / "xlagraph.toml"
    file.write_text('[categories]\nring = ["kv_*", "ring"]\nweight = ["w["]\n')
    assert read_categories(file) == (("ring", "kv_*"), ("ring", "ring"), ("weight", "w["))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[categories", "not TOML"),
        ("categories = 1", "expected a table"),
        ("[categories]\nring = 'kv'", "expected a list of parts of names"),
        ("[categories]\nring = ['']", "expected a list of parts of names"),
    ],
)
def test_a_file_of_another_form_is_rejected_by_its_name(tmp_path, text, message):
    file = tmp_path / "names.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"names.toml: {message}"):
        read_categories(file)
