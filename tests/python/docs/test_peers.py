"""Test that the numbers of docs/peers.md are those that its commands give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.docs.shell import ROOT, blocks, run
from tests.python.project import Project

pytestmark = pytest.mark.slow


def test_its_commands_give_its_numbers(tmp_path: Path) -> None:
    finished = run(blocks("docs/peers.md")[0], tmp_path)
    assert finished.returncode == 0, finished.stderr
    rows = Project(tmp_path / "chatbot").rows(
        "select target, scheme, similarity_between, similarity_gap, interval_low, interval_high"
        " from marts.fct_text_similarity join marts.dim_runs using (run_id) order by target desc, scheme"
    )
    found = {(target, scheme): numbers for target, scheme, *numbers in rows}
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").replace("−", "-").replace("**", "")
    targets = ("simulator", "simulator-fair")
    for scheme, name in (("bleu", "BLEU"), ("rouge_l", "ROUGE-L")):
        between = " | ".join(f"{found[target, scheme][0]:.3f}" for target in targets)
        assert f"| ours: {name} between groups, all pairs | {between} |" in page
    for scheme in ("rouge_l", "cosine"):
        for target in targets:
            _, gap, low, high = found[target, scheme]
            assert f"{gap:.3f} [{low:.3f}, {high:.3f}]" in page
