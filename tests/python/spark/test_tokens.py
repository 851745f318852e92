"""Test that both engines cut texts into the same words, items and keys, on random texts of odd characters."""

from __future__ import annotations

import itertools
import json
import random
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import jinja2
import pyarrow
import pytest

from biasledger.spark.translate import to_spark
from tests.python.spark.cluster import SMALL, needed

pytestmark = pytest.mark.slow
MACROS = Path(__file__).parents[3] / "macros"
FILES = (
    "engine/texts.sql",
    "words/schemes.sql",
    "words/terms.sql",
    "lists/items.sql",
    "markers/tokens.sql",
    "prices/items.sql",
)
N_TEXTS = 4_000
UNORDERED = {"keys", "forms of a word"}  # made by list_distinct, which has no order
LONG = 200_000  # characters
PHRASES = [
    " person  of  color ",
    " middle  eastern ",
    " of  color ",
    "日\x01本\x01",
    "ไ\x01ท\x01ย\x01",
    "本\x01",
]
# Characters, or whole words.
PIECES = {
    "letters": "abcdeghilmnorstuvwyzABCEIOSZ",
    "words": ["she", "he", "an", "una", "Asian", "girls", "bros", "person of color", "middle eastern", "mexicxx", "the", "les"],
    "marks": "\u0301\u0308\u0327\u0307\u0345\u0323\u20dd\u0903\ufe0f",
    "composed": "éÉàñçßẞøłåÅÄöŕİıſǆǅĳﬁﬃŉΐẖᾳᾼ\u212a\u2126\u212b\uf900",
    "sigma": "σςΣΑΒγΩ",
    "cyrillic": "ДжёЁйЙіЇ",
    "apostrophes": "'’‘ʼ＇`´′‛ʻ",
    "hyphens": "-\u2010\u2011\u2012\u2013\u2014\u2212\u00ad\ufe63\uff0d",
    "spaces": " \t\n\r\v\f\u0085\u00a0\u1680\u2003\u2007\u2028\u2029\u202f\u205f\u3000\x1c\x1f",
    "invisible": "\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202e\u061c\x01",
    "right to left": "שלוםأبجدهوز٣٤",
    "han": "日本語한국어가ひらカナ々〇\u1112\u1161\u11ab\u1100\u1173\u11a8",
    "indic": "हिन्दीதமிழ์ไทย",
    "unspaced": ["ผู้หญิง", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာဘာသာ", "ကမ္ဘာ", "他不是其他人", "iPhone手机"],
    "unspaced signs": ["スーパー・カップ", "ｶﾀｶﾅ", "手-机", "๓៣၃", "他>日本"],
    "astral": "𝒜𝓑𐐀𐐨𝟘𠀀🄰𞤀𞤢",
    "numbers": "0123456789½²①Ⅻⅳ٠१",
    "signs": "\"().,;:!?&$%*_+=<>[]{}/\\@#…“”«»¿\x7f|^~",
    "emoji": ["👩\u200d💻", "🏳️\u200d🌈", "👍🏽", "🇩🇪", "1️⃣", "😀", "❤️"],
    "names": ["https://example.org/a?b=c-d_e#f", "ada@example.org", "rock'n'roll", "İstanbul", "I'M", "ΟΔΥΣΣΕΥΣ", "straße"],
    "lists": ["3.14", "1,000", "1. ", "10. ", '\n2. "x" - (y)', "mid-", "-mid", "''a''", "e\u0301t\u00e9"],
}  # fmt: skip


class _Given(Exception):  # noqa: N818 (no error: how a macro returns a value)
    pass


def _give(value: object) -> None:
    raise _Given(value)


def _returning(macro: Callable[..., object]) -> Callable[..., Any]:
    def called(*arguments: object) -> object:
        try:
            return macro(*arguments)
        except _Given as given:
            return given.args[0]

    return called


def macros_of(engine: str) -> SimpleNamespace:
    """The macros that cut texts, as dbt gives them for an engine."""
    found = SimpleNamespace()
    adapter = SimpleNamespace(dispatch=lambda name, _package: getattr(found, f"{engine}__{name}"))
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=False)
    environment.globals.update({"adapter": adapter, "biasledger": found, "return": _give})
    with warnings.catch_warnings():
        # Macros hold patterns as dbt reads them.
        warnings.simplefilter("ignore", DeprecationWarning)
        for file in FILES:
            module = environment.from_string((MACROS / file).read_text(encoding="utf-8")).module
            vars(found).update({name: _returning(one) for name, one in vars(module).items() if callable(one)})
    return found


def expressions(engine: str) -> dict[str, str]:
    """Return expressions in DuckDB's SQL over the columns `t` and `phrases`, each of which gives a list of texts."""
    macros = macros_of(engine)
    schemes = {name: macros.scheme_tokens(name, "t", "phrases", "t") for name in macros.scheme_names()}
    others = {
        "items": macros.list_items("items", "t", "t"),
        "reference items": macros.list_items("reference", "t", "t"),
        "words of markers": f"[{macros.padded_words('t')}]",
        "between white space": macros.white_space_tokens("t"),
        "between white space, as one text": f"[{macros.joined_texts(macros.white_space_tokens('t'), ' ')}]",
        "words of a label": macros.words_of_label("t"),
        "forms of a word": macros.forms_of_word("lower(t)"),
        "name in a catalogue": f"[{macros.catalogue_name('t')}]",
    }
    return {**schemes, **others}


def made_texts(seed: int = 1) -> list[str]:
    """Random texts, of which every fourth is an answer in JSON."""
    draw = random.Random(seed)

    def text(n_pieces: int) -> str:
        parts = []
        for _ in range(n_pieces):
            pieces = PIECES[draw.choice(list(PIECES))]
            parts += [draw.choice(pieces) for _ in range(draw.choice((1, 1, 3)))]
            parts += [" "] * (draw.random() < 0.3)
        made = "".join(parts)
        return unicodedata.normalize(draw.choice(("NFC", "NFD")), made) if draw.random() < 0.3 else made

    def answer() -> str:
        pairs = {text(2): text(2) for _ in range(draw.randint(0, 4))}
        made = json.dumps(
            {text(1): pairs} if draw.random() < 0.2 else pairs, ensure_ascii=draw.random() < 0.5
        )
        return draw.choice(("", "Sure: ", text(2))) + made + draw.choice(("", "!", text(2)))

    alone = ["", " ", "\n\n", "\u00a0\u2003", *itertools.chain.from_iterable(PIECES.values())]
    long = [text(3) * (LONG // 10), "a" * LONG, "' -" * LONG]
    return [
        *alone,
        *long,
        *(answer() if number % 4 == 0 else text(draw.randint(1, 25)) for number in range(N_TEXTS)),
    ]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    needed()
    from biasledger.spark.session import open_session

    folder = tmp_path_factory.mktemp("tokens")
    texts = duckdb.from_arrow(pyarrow.table({"i": range(len(made_texts())), "t": made_texts()}))
    phrases = ", ".join(f"'{phrase}'" for phrase in PHRASES)
    texts.select(f"i, t, [{phrases}] as phrases").write_parquet(str(folder / "texts.parquet"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = open_session("local[2]", SMALL)
        session.read.parquet(str(folder / "texts.parquet")).createOrReplaceTempView("texts")
        yield session
        session.stop()


def cut(spark: Any, on_duckdb: str, on_spark: str) -> list[tuple[str, Any, Any]]:
    """Texts of which the engines make something else, with what they make of it."""
    [file] = Path.cwd().glob("texts.parquet")
    with duckdb.connect() as connection:
        rows = connection.execute(f"select t, i, {on_duckdb} from '{file}'").fetchall()
    sql = to_spark(f"select i, {on_spark} as made from texts", lambda _table: ["i", "t", "phrases"])
    found = dict(map(tuple, spark.sql(sql).collect()))
    return [(text, made, found[i]) for text, i, made in rows if made != found[i]]


@pytest.mark.parametrize("scheme", list(expressions("default")))
def test_both_engines_cut_alike(spark: Any, scheme: str) -> None:
    pair = [expressions(engine)[scheme] for engine in ("default", "sparksession")]
    if scheme in UNORDERED:
        pair = [f"list_sort({one})" for one in pair]
    assert cut(spark, *pair) == []


def test_other_texts_are_noticed(spark: Any) -> None:
    """sqlglot's own translation splits at other spaces."""
    split = "regexp_split_to_array(t, '{}')"
    assert cut(spark, split.format(r"\s+"), split.format(r"[\s\x0b]+"))


@pytest.mark.parametrize(
    "counted",
    [
        *("words", "reference", "keys"),
        "[t, null, 'a', t, null]",
        "[null, null]",
        "if(length(t) > 5, null, ['b', t, 'a', t])",
    ],
)
def test_both_engines_count_alike(spark: Any, counted: str) -> None:
    """For no values DuckDB gives no map and Spark an empty one, which have no entries either."""
    histograms = [
        f"coalesce(list_histogram({expressions(engine).get(counted, counted)}), map([], []))"
        for engine in ("default", "sparksession")
    ]
    assert cut(spark, *histograms) == []


OF_CHARACTERS = [
    *("lower(t)", "upper(t)", "strip_accents(t)", "trim(t)", "length(t)", "lower('Σ' || t)"),
    *(
        rf"regexp_matches(t, '{one}')"
        for one in (r"\p{L}", r"\p{M}", r"\p{N}", r"\p{Z}", r"\s", r"\S", r"[\S]", r"\d", "^.$")
    ),
    r"regexp_matches('a' || t || 'a', 'a\b')",
]


def test_every_character_is_the_same_to_both(spark: Any) -> None:
    """But for those that came to Unicode after Java or DuckDB: to one of them they were never assigned."""
    codes = [*range(1, 0xD800), *range(0xF900, 0x32400), *range(0xE0100, 0xE01F0)]
    characters = pyarrow.table({"t": list(map(chr, codes))})
    spark.createDataFrame(characters).createOrReplaceTempView("characters")
    listed = ", ".join(f"{expression} as x{number}" for number, expression in enumerate(OF_CHARACTERS))
    sql = to_spark(
        f"select t, {listed}, regexp_matches(t, '\\p{{Cn}}') as is_new from characters", lambda _table: ["t"]
    )
    on_spark = spark.sql(sql).toArrow()
    with duckdb.connect() as connection:
        connection.register("characters", characters)
        connection.register("on_spark", on_spark)
        ((n_known,),) = connection.execute("select count(*) from on_spark where not is_new").fetchall()
        assert n_known > 100_000
        connection.execute(f"create table on_duckdb as select t, {listed} from characters")
        for number, expression in enumerate(OF_CHARACTERS):
            differing = connection.execute(
                f"select t, on_duckdb.x{number}, on_spark.x{number} from on_duckdb inner join on_spark using (t) "
                f"where not is_new and on_duckdb.x{number} is distinct from on_spark.x{number}"
            ).fetchall()
            assert differing == [], expression
