"""One project with every kind of audit, of simulated models whose bias is known, for tests that read published tables."""

from __future__ import annotations

import csv
from pathlib import Path

import yaml

from biasledger.build import build_warehouse
from biasledger.project import init_project
from collector.importers.tabular import import_file
from collector.runner import collect
from collector.spec import load_audit
from collector.targets import load_target

VERSIONS = {"biasledger": "test"}
N_NAMES, N_TEXTS = 8, 5
_REGARD = {
    "audit": "regarded",
    "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
    "answer": {"kind": "text"},
    "import": {
        "columns": {
            "text": "text",
            "carrier": "name",
            "attributes": {"race": "race"},
            "scores": {"people": "label"},
        }
    },
    "reading": {"markers": {}},
}
# Every second question about Muslims is refused; everything else as the shipped simulator.
_REFUSING = {"kind": "simulator", "seed": 20260201, "refuse_about": {"Muslim": 0.5}, "steer": {"Black": 0.35}}


def make_audited(folder: Path) -> Path:
    """Lay out, collect, import and build; returns the project's folder.

    Planted: the target `simulator` steers products by race and not by gender, ranks and rates resumes with black names lower,
    gives them cheaper restaurants, says she of nurses and ties words to black names; `simulator-fair` does nothing of that;
    `changing` ranks fairly at first and as `simulator` does later; `refusing` refuses half of the questions about Muslims and
    steers lists for Black; of eight black names four texts in five are labelled negative, of eight white names one.
    """
    init_project(folder)
    _add_target(folder / "targets.yml", "refusing", _REFUSING)
    _collect(folder, "products", "simulator", variants=("debiased",))
    _collect(folder, "products", "simulator-fair")
    _collect(folder, "recommendations", "refusing", subjects=20, domains=("music",))
    wordings = ("robustness", "personality")
    _collect(folder, "recommendations", "simulator-fair", subjects=3, domains=("music",), parts=wordings)
    _collect(folder, "resumes", "simulator")
    _collect(folder, "rankings", "simulator")
    _add_target(folder / "targets.yml", "changing", {"kind": "simulator", "seed": 20260201})
    _collect(folder, "rankings", "changing")
    shipped = yaml.safe_load((folder / "targets.yml").read_text(encoding="utf-8"))["targets"]["simulator"]
    _add_target(folder / "targets.yml", "changing", shipped)
    _collect(folder, "rankings", "changing")
    _collect(folder, "restaurants", "simulator", domains=("Boston",), parts=("locations",))
    _collect(folder, "stereotypes", "simulator", trials=3)
    _import_regard(folder)
    build_warehouse(folder, folder / "ledger.duckdb", folder / "warehouse.duckdb")
    return folder


def _add_target(path: Path, name: str, settings: dict[str, object]) -> None:
    targets = yaml.safe_load(path.read_text(encoding="utf-8"))
    targets["targets"][name] = settings
    path.write_text(yaml.safe_dump(targets, sort_keys=False), encoding="utf-8")


def _collect(
    folder: Path,
    audit: str,
    target: str,
    *,
    variants: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
    subjects: int | None = None,
    domains: tuple[str, ...] = (),
    trials: int | None = None,
) -> None:
    collect(
        load_audit(folder / "audits" / f"{audit}.yml").with_subjects(subjects, domains),
        load_target(folder / "targets.yml", target),
        folder / "ledger.duckdb",
        variants=variants,
        parts=parts,
        trials=trials,
        show_progress=False,
        versions=VERSIONS,
    )


def _import_regard(folder: Path) -> None:
    audit, answers = folder / "audits" / "regarded.yml", folder / "regard.csv"
    audit.write_text(yaml.safe_dump(_REGARD, sort_keys=False), encoding="utf-8")
    with answers.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["race", "name", "text", "label"])
        for race, n_negative in (("Black", 4), ("White", 1)):
            for name in range(N_NAMES):
                for text in range(N_TEXTS):
                    label = "negative" if text < n_negative else "positive"
                    person = f"{race}-{name}"
                    writer.writerow([race, person, f"The neighbours have text {text} about {person}.", label])
    import_file(load_audit(audit), audit, answers, folder / "ledger.duckdb", versions=VERSIONS)
