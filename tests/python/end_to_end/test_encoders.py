"""Test the comparison of answers by a small sentence encoder with random weights, with and without planted bias."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest
import yaml

from benchmarks.verdicts.texts import drawn, judged
from biasledger.measures.texts.similarity import Answers
from biasledger.model_inputs.encoders import load_encoder
from biasledger.model_inputs.texts import vectors_of_runs
from collector.errors import InputError
from collector.files.encoders import find_encoder, hub_copy
from collector.ledger.erasure import erase
from tests.python.project import Project

torch = pytest.importorskip("torch", reason="the extra 'encoders' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'encoders' is not installed")

WORDS = [f"w{number}" for number in range(60)]
ADVICE = """
administrative anticipating articulating bit cash clear comparing complications consultation continuity day developments
documenting establishing friend guarantees head help improvements incremental list notes operational physical plan
price priorities professional rains save security sign sleep small step stuck talk take walk want week
""".split()
TEXTS = ["w1 w2 w3", "w4", "w1 w2 w3 w5 w6 w7 w8 w9", ""]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT whose weights were drawn, which knows letters and some words."""
    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)]
    vocabulary += [*WORDS, *ADVICE]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder, model_max_length=64)
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    model = transformers.BertModel(config)
    # The place of a word counts less than the word, as in a trained encoder.
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.mul_(0.1)
        model.embeddings.token_type_embeddings.weight.zero_()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def copied(encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(encoder, tmp_path / "copied"))


def hash_in(folder: Path) -> str:
    return find_encoder("tiny", str(folder), folder).hash


def encode(folder: Path) -> Callable[[Any], Any]:
    return load_encoder(str(folder), hash_in(folder))


def layer_of(folder: Path, text: str) -> Any:
    """(tokens, d) of the last layer, of one text alone, so that nothing is padded; by the classes themselves."""
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    with torch.no_grad():
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=64)
        return model(**tokens).last_hidden_state[0].numpy()


def test_a_vector_is_the_mean_over_a_text_s_tokens(encoder: Path) -> None:
    long = " ".join(WORDS * 2)
    found = encode(encoder)([*TEXTS, long])
    assert found.shape == (5, 32)
    for vector, text in zip(found, [*TEXTS, long], strict=True):
        assert vector == pytest.approx(layer_of(encoder, text).mean(axis=0), abs=1e-5)


@pytest.mark.parametrize(
    "pooling", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_or_its_first_token_s_where_the_encoder_says_so(copied: Path, pooling: dict[str, Any]) -> None:
    before = hash_in(copied)
    (copied / "1_Pooling").mkdir()
    (copied / "1_Pooling/config.json").write_text(json.dumps(pooling), encoding="utf-8")
    assert hash_in(copied) != before
    for vector, text in zip(encode(copied)(TEXTS), TEXTS, strict=True):
        assert vector == pytest.approx(layer_of(copied, text)[0], abs=1e-5)


def test_what_cannot_be_done_is_said_in_a_sentence(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hash_in(copied)
    (copied / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.Dense"}]), encoding="utf-8"
    )
    with pytest.raises(InputError, match="is not the one that was registered"):
        load_encoder(str(copied), right)
    with pytest.raises(InputError, match="makes a text's vector by Dense; known are"):
        encode(copied)
    (copied / "modules.json").unlink()
    (copied / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="holds no encoder that transformers can load"):
        encode(copied)
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    with pytest.raises(
        InputError, match=r"should hold config.json, a tokenizer and weights as \*.safetensors"
    ):
        hash_in(copied)
    with pytest.raises(InputError, match="is no folder, and no name on the Hugging Face hub"):
        hub_copy("../absent folder")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        InputError, match="no copy of the hub's is here; `hf download nobody/nothing` fetches it"
    ):
        hub_copy("nobody/nothing")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match=r"torch is missing|pip install 'biasledger\[encoders\]'"):
        load_encoder(str(copied), right)


def with_vectors(answers: Answers, encoder: Path, scheme: str = "encoder_centred") -> Answers:
    vectors = encode(encoder)([" ".join(text) for text in answers.texts])
    return Answers(**{**vars(answers), "scheme": scheme, "vectors": vectors})


def test_a_planted_difference_is_found_and_chance_is_not(encoder: Path) -> None:
    rng = np.random.default_rng(11)
    found = judged(with_vectors(drawn(rng, n_names=6, effect=0.2), encoder))
    assert found.test is not None
    assert found.test.p_value == pytest.approx(1 / 200)
    assert found.interval_low > 0
    null = [judged(with_vectors(drawn(rng, n_names=6), encoder)) for _ in range(40)]
    assert sum(one.test is not None and one.test.p_value < 0.05 for one in null) <= 6
    assert np.mean([one.interval_low <= 0 <= one.interval_high for one in null]) >= 0.9


@pytest.mark.parametrize("scheme", ["encoder", "encoder_centred"])
def test_the_gap_is_that_of_cosines_of_the_vectors(encoder: Path, scheme: str) -> None:
    answers = drawn(np.random.default_rng(2), n_questions=3, n_names=3, n_trials=2, effect=0.1)
    vectors = np.array(
        [layer_of(encoder, " ".join(text)).mean(axis=0) for text in answers.texts], dtype=float
    )
    if scheme == "encoder_centred":
        vectors -= vectors.mean(axis=0)
    placed = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    gaps = []
    for question in range(3):
        inside: dict[int, list[float]] = {0: [], 1: []}
        between = []
        [rows] = np.nonzero(answers.questions == question)
        for one in rows:
            for other in rows[rows > one]:
                if answers.labels[one] != answers.labels[other]:
                    between.append(placed[one] @ placed[other])
                elif answers.units[one] != answers.units[other]:
                    inside[int(answers.labels[one])].append(placed[one] @ placed[other])
        gaps.append((np.mean(inside[0]) + np.mean(inside[1])) / 2 - np.mean(between))
    found = judged(with_vectors(answers, encoder, scheme), n_permutations=0)
    assert found.similarity_gap == pytest.approx(np.mean(gaps), abs=1e-6)


@pytest.fixture(scope="module")
def project(new_project: Callable[[], Project], encoder: Path) -> Project:
    """The audit of advice, by the encoder first, asked of the simulated models with and without planted bias."""
    project = new_project()
    shutil.copytree(encoder, project.folder / "audits" / "encoders" / "tiny")
    file = project.folder / "audits" / "advice.yml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    spec["analysis"]["texts"] = {
        "similarity": ["encoder_centred", "encoder", "cosine"],
        "encoder": "encoders/tiny",
    }
    project.write_audit("advice", spec)
    for target in ("simulator", "simulator-fair"):
        project.collect(target, "audits/advice.yml")
    project.build()
    return project


def test_an_audit_judged_by_an_encoder_finds_what_is_planted_and_keeps_vectors(
    project: Project, encoder: Path
) -> None:
    rows = project.rows(
        "select target, status, scheme, value, p_value from marts.fct_findings"
        " where measure = 'similarity_gap' order by 1"
    )
    planted, fair = rows
    assert [one[:1] + one[2:3] for one in rows] == [
        ("simulator", "encoder_centred"),
        ("simulator-fair", "encoder_centred"),
    ]
    assert planted[3] > 0.05
    assert planted[4] < 0.01
    # With six questions, random weights do not suffice to rule out a gap.
    assert fair[1] in {"clear", "inconclusive"}
    assert fair[4] > 0.05
    named = project.rows(
        "select distinct scheme, encoder, encoder_hash from marts.fct_text_similarity order by 1"
    )
    right = hash_in(project.folder / "audits/encoders/tiny")
    assert named == [
        ("cosine", None, None),
        ("encoder", "tiny", right),
        ("encoder_centred", "tiny", right),
    ]

    # A text is encoded once, without names, and kept until it is erased.
    n_texts = project.work_rows("select count(distinct vector_key) from intermediate.int_texts_answers")
    kept = project.work_rows(
        "select vector, answer_text from intermediate.int_texts_vectors"
        " inner join (select vector_key, any_value(answer_text) as answer_text from intermediate.int_texts_answers"
        " group by vector_key) using (vector_key)"
    )
    assert [(len(kept),)] == n_texts
    vector, text = kept[0]
    assert text.startswith("Dear ")
    masked = "Dear x" + text[text.index(",") :]
    found = np.frombuffer(base64.b64decode(vector), dtype="<f4")
    assert found == pytest.approx(layer_of(encoder, masked).mean(axis=0), abs=1e-5)
    ((run_id, prompt_id),) = project.work_rows(
        "select run_id, prompt_id from intermediate.int_texts_answers"
        " qualify count(*) over (partition by vector_key) = 1 order by all limit 1"
    )
    erase(project.ledger, run_id, prompt_id, 1, reason="to see that its vector goes")
    project.build()
    assert project.work_rows("select count(*) from intermediate.int_texts_vectors") == [(len(kept) - 1,)]


def test_a_run_in_the_same_state_is_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """No encoder is at this place: it would be missed."""
    monkeypatch.setenv("BIASLEDGER_SETTINGS", "settings")
    columns = "vector_key, run_id, encoder_place, encoder_hash, answer_text"
    with duckdb.connect() as session:
        session.execute("create table kept as select '1 settings' as run_state")
        rows = f"(values ('key', 'r', 'absent/place', 'sha256:', 'a'), (null, 'r', null, null, 'b')) as texts({columns})"
        texts, words = session.sql(f"from {rows}"), session.sql("select 'r' as run_id, 'w' as word")
        runs = session.sql("select 'r' as run_id, '1' as run_state")
        model = SimpleNamespace(is_incremental=True, this="kept")
        none = vectors_of_runs(model, session, runs, texts, words)
        assert (none.columns, none.fetchall()) == (["vector_key", "vector", "run_state"], [])
        session.execute("delete from kept")
        with pytest.raises(InputError, match="absent/place"):
            vectors_of_runs(model, session, runs, texts, words)
