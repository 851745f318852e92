"""The reference of audit specs: current, and its examples are audits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collector.spec.loading import load_audit
from collector.spec.page import with_generated_part

PAGE = (Path(__file__).parents[3] / "docs" / "audits.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(audit:.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_is_current() -> None:
    assert with_generated_part(PAGE) == PAGE, "run: python -m collector.spec.page docs/audits.md"


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_an_example_is_an_audit(text: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(text, encoding="utf-8")
    load_audit(path)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 3
