"""Test labels given in the browser: kept under the name the explorer was started with, and refused from other sites."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from biasledger.verify import verify_ledger
from collector.ledger.database import Ledger
from collector.ledger.labels import read_labels
from tests.python.report.test_browser import violations
from tests.python.serving.conftest import SECONDS, Explorer, Open, serving

NAME = "Ada <b>L.</b>"


@pytest.fixture(scope="module")
def labelling(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    folder = tmp_path_factory.mktemp("labelling")
    for name in ("warehouse.duckdb", "ledger.duckdb"):
        shutil.copyfile(audited / name, folder / name)
    if (audited / "journal").is_dir():
        shutil.copytree(audited / "journal", folder / "journal")
    with serving(folder, label_as=NAME) as running:
        yield running


def form_of(page: str, place: int = 0) -> dict[str, str]:
    form = re.findall(r'<form class="labels".*?</form>', page, flags=re.DOTALL)[place]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', form))


def labels_of(explorer: Explorer, run_id: str) -> list[tuple[str, int, str | None, str]]:
    with Ledger(explorer.ledger).read() as connection:
        return [
            (one.prompt_id, one.trial, one.label, one.labelled_by) for one in read_labels(connection, run_id)
        ]


def post(explorer: Explorer, form: dict[str, str], **headers: str) -> requests.Response:
    return requests.post(
        f"{explorer.address}label", data=form, headers=headers, timeout=SECONDS, allow_redirects=False
    )


def test_a_label_is_kept_taken_back_and_shown(labelling: Explorer) -> None:
    page = labelling.get("/pairs").text
    form = form_of(page)
    done = post(labelling, {**form, "label": "problematic"}, **{"Sec-Fetch-Site": "same-origin"})
    assert (done.status_code, done.headers["Location"]) == (303, "/pairs")
    given = (form["prompt"], int(form["trial"]), "problematic", NAME)
    assert labels_of(labelling, form["run"]).count(given) == 1
    page = labelling.get("/pairs").text
    assert "Labelled <strong>problematic</strong> by <bdi>Ada &lt;b&gt;L.&lt;/b&gt;</bdi>" in page
    assert 'value="" aria-pressed="true">problematic' in page
    [verdict] = verify_ledger(labelling.ledger, [form["run"]], needs_journals=False)
    assert verdict.state == "intact"
    commented = {**form, "label": "problematic", "comment": " Names <i>one</i>\ngroup. "}
    assert post(labelling, commented).status_code == 303
    assert labels_of(labelling, form["run"]).count(given) == 1
    assert "UTC. <bdi>Names &lt;i&gt;one&lt;/i&gt; group.</bdi>" in labelling.get("/pairs").text
    assert post(labelling, {**commented, "comment": "x" * 501}).status_code == 400
    assert post(labelling, form).status_code == 400
    post(labelling, {**form, "label": ""})
    assert (given[0], given[1]) not in {one[:2] for one in labels_of(labelling, form["run"])}


def test_other_sites_and_strangers_cannot_give_labels(labelling: Explorer, explorer: Explorer) -> None:
    form = {**form_of(labelling.get("/pairs").text), "label": "problematic"}
    stood = labels_of(labelling, form["run"])
    for site in ("cross-site", "same-site"):
        navigated = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert post(labelling, form, **navigated).status_code == 403
    for wrong in (
        {"token": "guessed"},
        {"token": ""},
        {"trial": "x"},
        {"trial": "9" * 40},
        {"prompt": "none"},
        {"comment": "x" * 200_000},
    ):
        refused = post(labelling, {**form, **wrong})
        assert refused.status_code == 400, wrong
    assert labels_of(labelling, form["run"]) == stood
    # No page redirects to another machine, and an explorer without a name takes no labels.
    sent = post(labelling, {**form, "back": "//evil.example/"})
    assert sent.headers["Location"] == "/"
    post(labelling, {**form, "label": ""})
    assert post(explorer, form).status_code in {404, 405}
    assert 'class="labels"' not in explorer.get("/pairs").text
    assert labelling.get("/label").status_code == 405


def test_a_form_that_never_ends_is_given_up(labelling: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasledger.serving.app._FORM_SECONDS", 0.2)
    port = int(labelling.address.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=600) as opened:
        head = f"POST /label HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 10\r\n\r\n"
        opened.sendall(head.encode() + b"to")
        assert opened.recv(1000).startswith(b"HTTP/1.1 400 ")


@pytest.mark.slow
def test_a_reader_labels_answers_by_keyboard(labelling: Explorer, open_page: Open) -> None:
    [(finding,)] = labelling.rows(
        "select max(finding_id) from marts.fct_findings where measure = 'word_divergence' and status = 'alarm'"
    )
    for path in ("pairs", f"finding/{finding}"):
        opened = open_page(labelling.address + path)
        form = opened.page.locator("form.labels").first
        run, prompt = (form.locator(f"[name={name}]").input_value() for name in ("run", "prompt"))
        form.get_by_role("button", name="acceptable").focus()
        opened.page.keyboard.press("Enter")
        opened.page.get_by_text("Labelled acceptable by").first.wait_for(timeout=SECONDS * 1000)
        assert (prompt, "acceptable") in {(one[0], one[2]) for one in labels_of(labelling, run)}
        assert violations(opened) == [], path
        assert opened.troubles == [], path
        assert path in opened.page.url
