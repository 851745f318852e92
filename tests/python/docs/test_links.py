"""Test the documents: every link works, every page is in the site, and the installed pages can be read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.project import docs_source
from tests.python.docs.shell import ROOT

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")],
)
_LINK = re.compile(r"\]\((?![a-z]+:)([^)\s]+)\)")


def _prose(path: Path) -> str:
    """The text without blocks and spans of code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


def _anchors(path: Path) -> set[str]:
    """The names of a document's headings, as GitHub and the site give them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    seen: Counter[str] = Counter()
    anchors = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return anchors


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    for link in _LINK.findall(_prose(document)):
        file, _, anchor = link.partition("#")
        path = (document.parent / file).resolve() if file else document
        assert path.exists(), link
        assert not anchor or anchor in _anchors(path), link


# Folders and files whose tests try attacks, each of which docs/security.md names.
_ATTACKS = ("fuzz/test_*.py", "serving/test_closed.py", "query/test_escapes.py", "collector/test_hostile*.py")


def test_every_attack_that_the_page_on_security_names_is_tried() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| (`.+`) \|$", page.partition("## Attacks")[2], re.MULTILINE)
    named = {file for row in rows for file in re.findall(r"`(.+?)`", row)}
    tests = ROOT / "tests" / "python"
    assert {file for file in named if "def test_" not in (tests / file).read_text(encoding="utf-8")} == set()
    assert named >= {str(path.relative_to(tests)) for one in _ATTACKS for path in tests.glob(one)}


def test_every_page_is_in_the_site_and_linked_from_the_readme() -> None:
    nav = yaml.safe_load((ROOT / "site" / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = {page for part in nav for one in part.values() for page in _pages(one)}
    shown = {path.name for path in (ROOT / "docs").glob("*.md")}
    elsewhere = {"index.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "decisions/index.md"}
    assert pages == shown | elsewhere
    linked = {
        link.removeprefix("docs/") for link in _LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    }
    assert shown <= linked


def test_pages_of_the_site_link_to_pages_of_the_site() -> None:
    hook = (ROOT / "site" / "pages.py").read_text(encoding="utf-8")
    for document in (ROOT / "docs").rglob("*.md"):
        for link in _LINK.findall(_prose(document)):
            path = (document.parent / link.partition("#")[0]).resolve().relative_to(ROOT)
            assert path.parts[0] == "docs" or f'"{path}"' in hook, (document.name, link)


def _pages(part: object) -> list[str]:
    return [page for one in part for page in one.values()] if isinstance(part, list) else [str(part)]


def test_the_installed_pages_are_listed_and_shown() -> None:
    listed = CliRunner().invoke(cli, ["docs"]).output
    assert {line.split()[0] for line in listed.splitlines()} == {
        path.stem for path in docs_source().glob("*.md")
    }
    for name in ("methods", "docs/methods.md"):
        assert CliRunner().invoke(cli, ["docs", name]).output == (ROOT / "docs" / "methods.md").read_text(
            encoding="utf-8"
        )
    wrong = CliRunner().invoke(cli, ["docs", "method"])
    assert wrong.exit_code == 3
    assert "There is no page 'method'; did you mean 'methods'?" in wrong.output
