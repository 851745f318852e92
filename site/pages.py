"""Pages of the site that lie elsewhere in the repository, and links between what lies there and what lies in docs/.

A hook of MkDocs: the documents link each other as files of the repository do, so that they can be read there, too.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parents[1]
# File of the repository -> page of the site.
ELSEWHERE = {
    "README.md": "index.md",
    **{name: name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/ci/README.md")},
}
DECISIONS = "decisions/index.md"
# Additions to the theme for readers who see little contrast or no colours.
_STYLE = (
    "<style>:root>*{--md-primary-fg-color:#00665c;--md-footer-fg-color--lighter:#ccc;--md-typeset-a-color:#00665c;--md-default-fg-color--light:#555;"
    "--md-default-fg-color--lighter:#555}[data-md-color-scheme=slate]{--md-typeset-a-color:#74cac0;"
    "--md-default-fg-color--light:#bbb;--md-default-fg-color--lighter:#bbb}.md-typeset a{text-decoration:underline}"
    "</style></head>"
)
# `](target` of a link or a picture, without those of other sites and inside the page.
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")


def on_config(config: MkDocsConfig) -> None:
    """Name headings as GitHub does, so that a link to one works in both."""
    config.mdx_configs["toc"] = {"slugify": slugify(case="lower"), "permalink": True}


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that do not lie in docs/."""
    for source, page in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_moved(text, source, page)))
    titles = [
        f"- [{path.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}]({path.name})"
        for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))
    ]
    content = "# Decisions\n\nWhy it is built this way.\n\n" + "\n".join(titles) + "\n"
    files.append(File.generated(config, DECISIONS, content=content))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn the links of a page of docs/ to where their files are in the site."""
    uri = page.file.src_uri
    return markdown if uri in {*ELSEWHERE.values(), DECISIONS} else _moved(markdown, f"docs/{uri}", uri)


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search for screen readers, and give its texts contrast."""
    return output.replace("</head>", _STYLE, 1).replace(
        'role="dialog"', 'role="dialog" aria-label="Search"', 1
    )


def _moved(text: str, source: str, page: str) -> str:
    return _LINK.sub(lambda match: _target(match[1], source, page), text)


def _target(link: str, source: str, page: str) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path == "docs/decisions":
        path = f"docs/{DECISIONS}"
    there = ELSEWHERE.get(path, path.removeprefix("docs/"))
    return posixpath.relpath(there, posixpath.dirname(page) or ".")
