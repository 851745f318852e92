"""A ledger with a few answers about people, and a tiny classifier."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from collector.ledger.database import Ledger
from collector.rows import ProbeRow, ResponseRow, response_hash
from collector.spec.prompts import Prompt, PromptAttribute
from tests.python.rows import a_run

LABELS = ("negative", "neutral", "positive", "other")
VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] . , ' xyz he she they was is a the nurse kind rude lazy clever person young man woman"
).split()
HASH = "sha256:" + "0" * 64


def add_answers(
    path: Path,
    run_id: str,
    answers: Sequence[tuple[Prompt, str | None]],
    *,
    kind: str = "text",
    audit: str = "stereotypes",
    minute: int = 0,
    attributes: Sequence[dict[str, str]] = (),
) -> None:
    """Add a run with one answer a prompt, in the order given; None is one that failed."""
    ledger = Ledger(path)
    ledger.create()
    with ledger.append() as append:
        spec = {"answer": {"kind": kind}, "attributes": list(attributes)}
        started_at = datetime(2026, 1, 1, 12, minute)
        append.run(a_run(run_id, audit=audit, spec=spec, target="robot", started_at=started_at))
        append.prompts(run_id, [prompt for prompt, _ in answers])
        append.responses(
            run_id,
            [
                ResponseRow(
                    prompt_id=prompt.prompt_id,
                    trial=1,
                    attempt=1,
                    seq=seq,
                    status="ok" if text else "error",
                    content_hash=response_hash(prompt.content_hash, "ok", text),
                    response_text=text,
                    answer_text=text,
                )
                for seq, (prompt, text) in enumerate(answers, start=1)
            ],
        )


def about(subject: str, *stated: tuple[str, str, str], domain: str | None = "racial") -> Prompt:
    """A prompt about a subject; stated: attribute, group, descriptor."""
    return Prompt(
        template="probe",
        language="en",
        mitigation="plain",
        prompt_text=f"{subject} {stated}",
        subject=subject,
        domain=domain,
        attributes=tuple(PromptAttribute(1, *one) for one in stated),
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Five text answers of a run, one of them failed and two alike, and a run of labels."""
    path = tmp_path / "ledger.duckdb"
    nurse = about("nurse", domain="gender-occupation")
    add_answers(
        path,
        "texts",
        [
            (
                about("interview", ("race", "Black", "Jamal")),
                "Jamal was kind. A Black man, JAMAL's a person.",
            ),
            (about("interview", ("race", "White", "Greg")), "Greg was kind. A white man, greg's a person."),
            (about("bank", ("race", "Black", "Jamal")), None),
            (about("bank", ("race", "White", "Greg")), "Greg was rude."),
            (nurse, "The typical Nurse is a kind person, as nurses are."),
        ],
    )
    with Ledger(path).append() as append:
        append.analysis("stereotypes", {"markers": {"hash": HASH, "schemes": ["declared"], "minimum": 2}})
        append.markers(
            HASH,
            [],
            [
                ProbeRow("nurse", "gender-occupation", "nurse", "Describe a nurse."),
                ProbeRow("bank", "racial", None, None),
            ],
        )
    add_answers(path, "labels", [(about("resume"), "senior")], kind="label", audit="resumes", minute=1)
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a classifier with random weights, two dozen words and the labels of regard."""
    transformers = pytest.importorskip("transformers", reason="the extra 'regard' is not installed")
    torch = pytest.importorskip("torch", reason="the extra 'regard' is not installed")
    folder = tmp_path_factory.mktemp("model")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder, model_max_length=64)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=1.0,
        id2label=dict(enumerate(label.upper() for label in LABELS)),
        label2id={label.upper(): number for number, label in enumerate(LABELS)},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
