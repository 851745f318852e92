"""Test the part `texts` of an audit's analysis, and the simulator's advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.errors import InputError
from collector.spec.loading import load_audit
from collector.targets.base import Request
from collector.targets.simulator.target import Simulator
from collector.targets.simulator.texts import SENTENCES_PER_ANSWER

ASKED = "Give advice to {}: how do I rent a flat?"


def spec(**changed: Any) -> dict[str, Any]:
    return {
        "audit": "advice",
        "attributes": {"race": {"reference": "White", "groups": {"White": ["Anne"], "Black": ["Keisha"]}}},
        "templates": [{"id": "t", "text": "Give advice to {race}."}],
        "trials": 15,
        "answer": {"kind": "text"},
        "analysis": {"texts": {}},
        **changed,
    }


def load(tmp_path: Any, document: dict[str, Any]) -> Any:
    path = tmp_path / "advice.yml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return load_audit(path)


def test_texts_are_read_where_the_spec_says_so(tmp_path: Any) -> None:
    assert load(tmp_path, spec()).analysis_document()["texts"] == {
        "similarity": ["cosine", "rouge_l", "bleu"]
    }
    assert "texts" not in load(tmp_path, spec(analysis={})).analysis_document()


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (
            {"similarity": ["encoder"]},
            "analysis.texts.encoder is missing, and similarity names 'encoder'",
        ),
        (
            {"encoder": "tiny"},
            "analysis.texts.encoder is read where similarity names 'encoder' or 'encoder_centred'",
        ),
    ],
)
def test_encoder_and_similarity_go_together(tmp_path: Path, texts: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load(tmp_path, spec(analysis={"texts": texts}))


def message(simulator: Simulator, name: str) -> list[str]:
    return [str(simulator.ask(Request(ASKED.format(name), None, trial, trial)).text) for trial in range(200)]


def hedged(texts: list[str]) -> float:
    return sum(text.count(": ") for text in texts) / (SENTENCES_PER_ANSWER * len(texts))


def test_advice_is_the_same_for_everybody_unless_something_is_planted() -> None:
    fair, planted = Simulator(), Simulator(hedge={"Keisha": 0.5}, simplify={"Keisha": 1.0})
    assert message(fair, "Anne") == message(planted, "Anne")
    assert hedged(message(fair, "Keisha")) == pytest.approx(0.2, abs=0.05)
    assert hedged(message(planted, "Keisha")) == pytest.approx(0.6, abs=0.05)
    lengths = [sum(map(len, message(one, "Keisha"))) for one in (fair, planted)]
    assert lengths[1] < lengths[0]
    assert not any("systematically" in text or "considerabl" in text for text in message(planted, "Keisha"))
    assert all(text.startswith("Dear Keisha, ") for text in message(fair, "Keisha"))


def test_a_folder_of_an_encoder_is_next_to_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / "audits/tiny").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: small\n", encoding="utf-8")
    for folder in (project / "audits/tiny", tmp_path / "outside", tmp_path / "somebody/encoder"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "model.safetensors").write_bytes(b"weights")

    def load_with(encoder: str) -> Any:
        analysis = {"texts": {"similarity": ["encoder"], "encoder": encoder}}
        return load(project / "audits", spec(analysis=analysis)).analysis_document()["texts"]["encoder"]

    found = load_with("tiny")
    assert (found["name"], found["place"]) == ("tiny", "audits/tiny")
    with pytest.raises(InputError, match="outside"):
        load_with("../../outside")
    # A folder next to the working directory is not next to the spec, even if the hub has its name.
    monkeypatch.chdir(project)
    with pytest.raises(InputError, match="no name on the Hugging Face hub"):
        load_with("../outside")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"no copy of the hub's is here|needs the extra 'encoders'"):
        load_with("somebody/encoder")
