"""Advice in a language without listed hedges, each question asked once about one name of each group: no noise floor."""

from __future__ import annotations

from tests.python.project import Project

AUDIT = "rat"


def plant(project: Project) -> None:
    """Ask the fair simulator."""
    spec = {
        "audit": AUDIT,
        "attributes": {"race": {"reference": "White", "groups": {"White": ["Anne"], "Black": ["Keisha"]}}},
        "templates": [
            {"id": name, "text": f"Give advice to {{race}}: {name}?", "language": "ru"}
            for name in ("eins", "zwei")
        ],
        "trials": 1,
        "answer": {"kind": "text"},
        "analysis": {"texts": {"similarity": ["rouge_l"]}},
    }
    project.collect("simulator-fair", project.write_audit(AUDIT, spec))
