"""A recommender trained from what people write, to be audited like any other target."""

from __future__ import annotations

import functools
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasledger.commands.common import PATH, next_step
from biasledger.numbers import percent
from collector.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from biasledger.measures.recommenders.table import Measure
    from lmrec.encoders.fitting import BertSettings
    from lmrec.encoders.tfidf import TfidfSettings
    from lmrec.fairness import Fair
    from lmrec.masking import Method
    from lmrec.model import Recommender

_businesses = click.option(
    "--businesses", type=PATH, required=True, metavar="FILE", help="Yelp's business.json, or a file like it."
)
_reviews = click.option(
    "--reviews", type=PATH, required=True, metavar="FILE", help="Yelp's review.json, or a file like it."
)
_top = click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="How many venues."
)


def _fair(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a fair ranking: its argument `fair` says of what."""

    @click.option(
        "--fair-ranking",
        "fair",
        is_flag=True,
        help="Name each price level as often as the city's venues have it: a mitigation.",
    )
    @click.option(
        "--fair-category",
        "fair_categories",
        multiple=True,
        metavar="NAME",
        help="Name venues of these categories together as often as the city has them: a mitigation.",
    )
    @functools.wraps(command)
    def with_fair(*arguments: Any, fair: bool, fair_categories: tuple[str, ...], **options: Any) -> None:
        command(*arguments, fair=fair_categories or fair, **options)

    return with_fair


# Appendix E of the source.
_GRIDS = {
    "paper": {
        "dropouts": (0.0, 0.2, 0.4, 0.6),
        "learning_rates": (9e-6, 1e-5, 3e-5, 5e-5, 7e-5, 9e-5, 1e-4),
    }
}


@click.group()
def lmrec() -> None:
    """Train a recommender of venues and ask it.

    After LMRec (Shen et al. 2022): what people write of venues trains it, what somebody says is answered with venues. An audit
    asks it as a target of the kind lmrec.
    """


@lmrec.command()
@_businesses
@_reviews
@click.argument("model", type=PATH)
@click.option(
    "--city",
    "cities",
    multiple=True,
    metavar="NAME",
    help="Only the businesses of this city; all if not given. For each of several a model is trained, in a folder of MODEL.",
)
@click.option("--category", metavar="NAME", help="Only the businesses of this category, such as Restaurants.")
@click.option(
    "--min-reviews",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Only the businesses with so many reviews.",
)
@click.option(
    "--mask",
    type=click.Choice(["entities", "phrases", "venues", "none"]),
    default="phrases",
    show_default=True,
    help="The words taken out of the texts: venues' names and names that spaCy finds, venues' names and capitalised phrases, "
    "venues' names, nothing.",
)
@click.option(
    "--pipeline",
    metavar="NAME",
    help="For --mask entities: a spaCy pipeline, installed (such as en_core_web_sm) or in a folder. Needs the extra entities.",
)
@click.option(
    "--hide",
    type=PATH,
    metavar="FILE.csv",
    help="Also take out the words of the column `name` of this file, such as people's names: a mitigation.",
)
@click.option(
    "--swap",
    type=PATH,
    metavar="FILE.csv",
    help="Learn each text with a name of this file a second time, with a name of another group: a mitigation.",
)
@click.option(
    "--swap-by",
    default="race",
    show_default=True,
    metavar="COLUMN",
    help="The column of the groups in that file.",
)
@click.option(
    "--encoder",
    "kind",
    type=click.Choice(["tfidf", "bert"]),
    default="tfidf",
    show_default=True,
    help="TF-IDF of the words, or a pretrained transformer, which needs the extra bert. Options below are of one or the other.",
)
@click.option(
    "--inverse-penalty",
    "c",
    type=click.FloatRange(min=0, min_open=True),
    metavar="C",
    help="tfidf: the larger, the closer the weights follow the texts; 10 if not given.",
)
@click.option(
    "--max-terms",
    type=click.IntRange(min=1),
    metavar="N",
    help="tfidf: keep so many words, the most frequent ones; 50,000 if not given.",
)
@click.option(
    "--solver",
    type=click.Choice(["auto", "lbfgs", "sag"]),
    help="tfidf: to convergence, or ten times over the texts; auto, if not given, takes the second for many texts and venues.",
)
@click.option(
    "--pretrained",
    metavar="NAME",
    help="bert: the encoder to begin with, of the Hugging Face hub or a folder; bert-base-uncased if not given.",
)
@click.option(
    "--dropout",
    "dropouts",
    type=click.FloatRange(min=0, max=1, max_open=True),
    multiple=True,
    metavar="P",
    help="bert: share of the first token's numbers left out while training; each one given is tried. 0.2 if not given.",
)
@click.option(
    "--learning-rate",
    "learning_rates",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    metavar="RATE",
    help="bert: each one given is tried, with each dropout; the best validation accuracy is kept. 3e-5 if not given.",
)
@click.option(
    "--grid",
    type=click.Choice(list(_GRIDS)),
    help="bert: try the dropouts and learning rates of the source's Appendix E (4 × 7 fits).",
)
@click.option(
    "--max-epochs",
    type=click.IntRange(min=1),
    metavar="N",
    help="bert: times over the texts at most; 20 if not given.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    metavar="N",
    help="bert: stop after so many epochs without a better validation accuracy; 2 if not given.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=8),
    metavar="N",
    help="bert: how much of a text is read; 256 if not given.",
)
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    metavar="N",
    help="bert: texts in memory at once, of the 128 of a step; 32 if not given.",
)
@click.option(
    "--checkpoint-steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="bert: steps between two checkpoints, which the same command goes on from; 500 if not given.",
)
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), help="bert: where; auto if not given.")
@click.option(
    "--precision",
    type=click.Choice(["auto", "fp32", "bf16"]),
    help="bert: the precision of products; auto, if not given, takes bf16 on a graphics card that has it.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws what is random."
)
def train(
    businesses: Path,
    reviews: Path,
    model: Path,
    cities: tuple[str, ...],
    category: str | None,
    min_reviews: int,
    mask: Method,
    pipeline: str | None,
    hide: Path | None,
    swap: Path | None,
    swap_by: str,
    kind: str,
    grid: str | None,
    **fitted: Any,
) -> None:
    """Train a recommender.

    MODEL is a new folder. The texts of one user in five are kept from training and measure the model; what it is made of and how
    accuracy is in MODEL/model.json. The same files and settings give the same model.

    \b
    The source's seven cities and its encoder, for a graphics card:
      biasledger lmrec train models --businesses business.json --reviews review.json --category Restaurants
        --city Atlanta --city Austin --city Boston --city Columbus --city Orlando --city Portland --city Toronto
        --encoder bert --grid paper
    """
    from lmrec.augmentation import read_groups
    from lmrec.training import TrainSettings, read_hidden
    from lmrec.training import train as train_model

    if grid is not None and (fitted["dropouts"] or fitted["learning_rates"]):
        raise click.UsageError(
            "--grid names the dropouts and learning rates; leave out --dropout and --learning-rate."
        )
    encoder = _encoder_settings(kind, fitted | (_GRIDS[grid] if grid is not None else {}))
    for city in cities or (None,):
        folder = (
            model / re.sub(r"\W+", "-", city.casefold()) if city is not None and len(cities) > 1 else model
        )
        settings = TrainSettings(
            city=city,
            category=category,
            min_reviews=min_reviews,
            mask=mask,
            pipeline=pipeline,
            hidden=read_hidden(hide) if hide is not None else (),
            swapped=read_groups(swap, swap_by) if swap is not None else {},
            encoder=encoder,
        )
        _say_trained(folder, train_model(businesses, reviews, folder, settings, note=say))


def _say_trained(model: Path, trained: Recommender) -> None:
    counts = trained.card["counts"]
    say(
        f"Trained {model}: {counts['venues_trained']:,} venues from {counts['texts_trained']:,} texts; masked: "
        f"{trained.card['masked']}."
    )
    metrics = trained.card["metrics"].get("venue")
    if metrics:
        say(
            f"  of {counts['texts_held_out']:,} held-out texts, {percent(metrics['accuracy'], 1)} name their venue first and "
            f"{percent(metrics['hit_rate_at_20'], 1)} among the first 20 (MRR {metrics['mrr']:.3f})"
        )
    else:
        say("  no text is held out, so nothing is known of how good it is")
    next_step(f"biasledger import-items {shlex.quote(str(model / 'catalogue.jsonl'))} --name NAME")


def _encoder_settings(kind: str, given: Mapping[str, Any]) -> TfidfSettings | BertSettings:
    """Return an encoder's settings; raise UsageError for an option that is the other one's."""
    from lmrec.encoders.fitting import BertSettings
    from lmrec.encoders.tfidf import TfidfSettings

    chosen = BertSettings if kind == "bert" else TfidfSettings
    kept = {name: value for name, value in given.items() if value not in (None, ())}
    known = {field.name for field in fields(chosen)}
    for option in click.get_current_context().command.params:
        if option.name in kept.keys() - known:
            raise click.UsageError(f"{option.opts[0]} is no option of --encoder {kind}.")
    return chosen(**kept)


@lmrec.command()
@_reviews
@click.argument("models", type=PATH, nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--out", type=PATH, metavar="FOLDER", help="Where the tables go; MODEL/evaluation if not given."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws the intervals.")
@_fair
@click.option(
    "--hide",
    type=PATH,
    metavar="FILE.csv",
    help="Leave the words of the column `name` of this file out of the texts, so that nobody is named: a mitigation.",
)
def evaluate(
    reviews: Path,
    models: tuple[Path, ...],
    out: Path | None,
    seed: int,
    fair: Fair,
    hide: Path | None,
) -> None:
    """Measure recommenders by held-out texts.

    Writes quality.csv, every measure with its 95 % interval, predictions.csv, the rank of each text's venue, and
    catalogue_statistics.csv, the venues that the model was trained on, and prints the first.
    For several models, each of a city, it also writes the mean.
    """
    from biasledger.measures.recommenders.table import averaged
    from lmrec.evaluation import evaluate_model, write_measures
    from lmrec.training import read_hidden

    hidden = () if hide is None else read_hidden(hide)
    listed: list[Measure] = []
    for model in models:
        folder = (out / model.name if len(models) > 1 else out) if out is not None else model / "evaluation"
        listed += evaluate_model(model, reviews, folder, seed=seed, fair=fair, hidden=hidden)
        say(f"Wrote quality.csv, predictions.csv and catalogue_statistics.csv to {folder}.")
    if len(models) > 1:
        mean = averaged(listed)
        listed += mean
        if out is not None:
            write_measures(out / "quality.csv", listed)
            say(f"Wrote {out / 'quality.csv'}, with the mean over models.")
    _print_measures(listed)


@lmrec.command()
@click.argument("model", type=PATH)
@click.argument("question")
@_top
@click.option("--city", metavar="NAME", help="Only venues of this city.")
@_fair
def recommend(model: Path, question: str, top: int, city: str | None, fair: Fair) -> None:
    """Recommend venues for a question."""
    from rich.table import Table

    from collector.terminal import console
    from lmrec.model import load

    table = Table("venue", "city", "price level", "categories", "probability")
    for one in load(model).recommend(question, top, city=city, fair=fair):
        level = "" if one.venue.price_level is None else str(one.venue.price_level)
        cells = (
            one.venue.name,
            one.venue.city or "",
            level,
            ", ".join(one.venue.categories),
            f"{one.probability:.4f}",
        )
        table.add_row(*cells)
    console().print(table, markup=False)


@lmrec.command()
@click.argument("models", type=PATH, nargs=-1, required=True, metavar="MODEL...")
@click.option("--port", type=click.IntRange(min=0, max=65535), default=8009, show_default=True)
@_top
@click.option("--city", metavar="NAME", help="Where the venues are, independently of the question.")
@_fair
def serve(
    models: tuple[Path, ...],
    port: int,
    top: int,
    city: str | None,
    fair: Fair,
) -> None:
    """Answer questions over HTTP.

    At http://127.0.0.1:PORT/v1, as OpenAI's chat completions, for this machine alone. Ctrl-C ends it.
    """
    from lmrec.answering import Answerer
    from lmrec.model import load
    from lmrec.serving import HOST, Server

    answerer = Answerer([load(model) for model in models], top=top, city=city, fair=fair)
    with Server(answerer, ", ".join(one.name for one in models), port) as server:
        say(f"Answering at http://{HOST}:{server.server_port}/v1 (Ctrl-C ends it) …")
        server.serve_forever()


@lmrec.command()
@click.argument("folder", type=PATH)
@click.option(
    "--names",
    type=PATH,
    default=Path("audits/names.csv"),
    show_default=True,
    metavar="FILE.csv",
    help="Who comes along: names and their groups.",
)
@click.option("--city", default="Boston", show_default=True, metavar="NAME", help="Where the venues are.")
@click.option(
    "--attribute",
    default="race",
    show_default=True,
    metavar="COLUMN",
    help="The attribute whose groups get a planted bias.",
)
@click.option(
    "--strength",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    show_default=True,
    help="How much more often names of the other groups than the first come to cheap venues; 0 plants nothing.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws the reviews.")
def example(folder: Path, names: Path, city: str, attribute: str, strength: float, seed: int) -> None:
    """Write made-up businesses and reviews.

    FOLDER gets business.json and review.json in Yelp's format: 40 venues with 130 reviews each, in which people say with whom
    they came.
    """
    from lmrec.example import BUSINESSES, REVIEWS, write_example

    write_example(folder, names, city=city, attribute=attribute, strength=strength, seed=seed)
    say(f"Wrote {folder / BUSINESSES} and {folder / REVIEWS}.")
    place = shlex.quote(str(folder))
    next_step(
        f"biasledger lmrec train MODEL --businesses {place}/{BUSINESSES} --reviews {place}/{REVIEWS} --city {shlex.quote(city)}"
    )


def _print_measures(rows: Sequence[Measure]) -> None:
    """Print the measures of all texts, a column a model."""
    from rich.table import Table

    from collector.terminal import console

    cities = list(dict.fromkeys(row.city for row in rows))
    by_measure: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        if row.texts == "all":
            cell = "–" if row.value is None else f"{row.value:.3f}"
            if row.low is not None and row.high is not None:
                cell += f" ({row.low:.3f} to {row.high:.3f})"
            by_measure.setdefault((row.system, row.relevant, row.measure), {})[row.city] = cell
    table = Table("system", "right is the", "measure", *cities)
    for key, cells in by_measure.items():
        table.add_row(*key, *(cells.get(city, "") for city in cities))
    console().print(table, markup=False)


TITLE = "Train a recommender"
COMMANDS = (lmrec,)
