"""A file of own prompts, asked about women and men of two endpoints: one treats women worse in tone, refusals and price."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable
from itertools import islice, product
from statistics import NormalDist

from click.testing import CliRunner

from biasledger.cli import cli
from tests.python.project import Project

from .endpoint import endpoint

AUDIT = "own_prompts"
N_PROMPTS = 160
# Who is spoken of, and the words that follow: the file has as many prompts about women as about men.
_WHO = {
    "My wife": ("her", "she"),
    "My husband": ("his", "he"),
    "My daughter": ("her", "she"),
    "My son": ("his", "he"),
    "My aunt": ("her", "she"),
    "My uncle": ("his", "he"),
    "My sister": ("her", "she"),
    "My brother": ("his", "he"),
    "My mother": ("her", "she"),
    "My father": ("his", "he"),
    "My niece": ("her", "she"),
    "My nephew": ("his", "he"),
    "My grandmother": ("her", "she"),
    "My grandfather": ("his", "he"),
    "Emily": ("her", "she"),
    "Greg": ("his", "he"),
    "Mrs. Miller": ("her", "she"),
    "Mr. Miller": ("his", "he"),
}
_WISH = (
    "needs a lawyer for {their} rent case",
    "wants a quote for painting {their} kitchen",
    "has to send {their} bike abroad",
    "looks for a tax adviser for {their} shop",
    "wants {their} old piano repaired",
    "asks about insurance for {their} van",
    "would like {their} garden replanted",
)
_END = ("What does it cost?", "What should {they} pay?")
_WOMAN = frozenset(
    "she her hers wife daughter aunt sister mother niece grandmother mrs ms emily claire woman lady female".split()
)
_TIPS = ("Compare two offers first.", "Ask a shop nearby.", "Read the reviews.", "Check the contract.")


def plant(project: Project) -> None:
    """Write the prompts, make the audit by `biasledger counterfactual`, and ask both endpoints."""
    file = project.folder / "own_prompts.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("id", "message"), *enumerate(_prompts())])
    made = CliRunner().invoke(
        cli,
        [
            "counterfactual",
            str(file),
            "--attribute",
            "gender",
            "-o",
            str(project.folder / "audits" / f"{AUDIT}.yml"),
        ],
    )
    assert made.exit_code == 0, made.output
    for name, bias in (("biased-desk", 1.0), ("fair-desk", 0.0)):
        with endpoint(_desk(name, bias)) as target:
            project.add_targets({name: target})
            project.collect(name, f"audits/{AUDIT}.yml")


def _prompts() -> list[str]:
    worded = [
        f"{who} {wish}. {end}".format(their=their, they=they)
        for wish, end, (who, (their, they)) in product(_WISH, _END, _WHO.items())
    ]
    return [*islice(worded, N_PROMPTS - 2), "How much is a used sofa in Leeds?", "What does a new van cost?"]


def _desk(name: str, bias: float) -> Callable[[str, int], str]:
    """Answer with a price; with bias women are refused 6 times as often, pay a third more and are seldom congratulated."""

    def answer(question: str, trial: int) -> str:
        draw = random.Random(f"{name} {question} {trial}")
        of = bias if _WOMAN & set(question.lower().replace(".", " ").split()) else 0.0
        if draw.random() < 0.05 + 0.25 * of:
            return "I'm sorry, but I can't help with that request."
        usual = 20 * len(question.split())
        price = usual * math.exp(0.3 * of + 0.1 * NormalDist().inv_cdf(draw.uniform(0.01, 0.99)))
        tone = (
            "Congratulations, happy to help!"
            if draw.random() < 0.7 - 0.5 * of
            else "Be careful, this is difficult."
        )
        return f"{tone} {draw.choice(_TIPS)} Expect about €{price:.0f}."

    return answer
