"""Test shipped wordings of groups, and specs that name them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.spec.loading import load_audit
from collector.spec.wordings import read_wordings, shipped_wordings

SPEC = """
audit: advice
attributes:
  race: {%s}
templates:
  - {id: flat, text: "Give advice to {race}."}
trials: 1
answer: {kind: text}
"""


def _written(folder: Path, attribute: str) -> Path:
    path = folder / "advice.yml"
    path.write_text(SPEC % attribute, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", shipped_wordings())
def test_every_group_has_five_wordings_in_the_frames_of_the_others(name: str) -> None:
    groups = read_wordings(name)
    assert len(groups) > 1
    every = [one for wordings in groups.values() for one in wordings]
    assert len(set(every)) == len(every)
    assert all(len(wordings) >= 5 for wordings in groups.values())
    assert len({len(wordings) for wordings in groups.values()}) == 1
    # The words that begin a noun phrase are those of its frame, but for the article. Other languages have words that agree.
    frames = {
        tuple(re.sub(r"^an? .*|^(\w+ \w+).*", r"\1", one) for one in wordings) for wordings in groups.values()
    }
    assert len(frames) == 1 or not name.endswith("/en")


def test_a_spec_names_shipped_wordings_and_may_choose_groups(tmp_path: Path) -> None:
    race = load_audit(_written(tmp_path, "reference: White, wordings: race/en")).attributes["race"]
    assert {"White", "Black", "Asian", "Latino"} < set(race.groups)
    assert race.groups["Asian"][:2] == ("an Asian person", "a person who is Asian")
    chosen = load_audit(
        _written(tmp_path, "reference: White, wordings: race/en, groups: [White, Black]")
    ).attributes["race"]
    assert chosen.groups == {name: race.groups[name] for name in ("White", "Black")}


@pytest.mark.parametrize(
    ("attribute", "sentence"),
    [
        ("wordings: rase/en", "attributes.race.wordings: 'rase/en' is not shipped; shipped are 'age/en', "),
        ("wordings: ../race/en", "is not shipped"),
        ("wordings: race/en, groups: [White, Blue]", "has 'Blue', which race/en lacks; it has 'White', "),
        ("wordings: race/en, groups: {White: white}", "must be a list of groups of race/en"),
        ("wordings: race/en, file: race.csv", "remove one"),
    ],
)
def test_wrong_wordings_are_named(tmp_path: Path, attribute: str, sentence: str) -> None:
    (tmp_path / "race.csv").write_text("group\nWhite\nBlack\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(sentence)):
        load_audit(_written(tmp_path, attribute))
