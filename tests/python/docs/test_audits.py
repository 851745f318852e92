"""Test that the reference of audit specs is current and that its examples are audits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from biasledger.reference import with_generated_parts
from collector.spec.loading import load_audit

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "audits.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(audit:.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["audits.md", "targets.md"])
def test_the_page_is_current(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert "<!-- end of keys -->" in page
    assert with_generated_parts(page) == page, (
        "run: python -m biasledger.reference docs/audits.md docs/targets.md"
    )


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_an_example_is_an_audit(text: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(text, encoding="utf-8")
    load_audit(path)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 4
