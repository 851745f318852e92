"""Test items with keys in other languages, keys that an audit states, and prices in amounts of money."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.answers.recommendations.item_rules import ItemRules, PriceForm, parse_key_path
from collector.answers.recommendations.items import find_items
from collector.answers.recommendations.key_words import meaning_of
from collector.answers.recommendations.prices import read_amount
from collector.answers.replies import classify
from collector.answers.texts.json_text import JsonNumber
from collector.spec.parts import Answer

Shown = list[tuple[str | None, int | float | None, str | None, tuple[str, ...]]]


def rules(prices: PriceForm | None = None, **keys: str) -> ItemRules:
    return Answer.model_validate({"kind": "items", "prices": prices, "keys": keys}).item_rules


def found(reply: Any, how: ItemRules | None = None) -> Shown:
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    items = [(one, one.amount) for one in find_items(text, 4, how).items]
    return [
        (one.name, *((amount.value, amount.currency) if amount else (one.price_level, None)), one.categories)
        for one, amount in items
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"titel": "A", "preis": 2, "sparte": "x"},
        {"Bezeichnung": "A", "Preisklasse": "$$", "Kategorie": ["X"]},
        {"nom": "A", "gamme_de_prix": "€€", "catégorie": "x"},
        {"nombre": "A", "precio": "2", "categoría": "x"},
        {"título": "A", "preço": 2, "gênero": "x"},
        {"titolo": "A", "prezzo": 2, "categoria": "x"},
        {"naam": "A", "prijs": 2, "soort": "x"},
        {"nazwa": "A", "cena": 2, "kategoria": "x"},
        {"ürünAdı": "A", "fiyat": 2, "kategori": "x"},
        {"название": "A", "цена": 2, "категория": "x"},
        {"名称": "A", "价格": 2, "类别": "x"},
        {"商品名": "A", "価格帯": 2, "カテゴリー": "x"},
        {"상품명": "A", "가격": 2, "카테고리": "x"},
        {"اسم المنتج": "B", "اسم": "A", "السعر": 2, "الفئة": "x"},
        {"product_name": "A", "product_price": 2, "product_category": "x"},
        # A value under a plain key wins over one under a translated key.
        {"name": "A", "artikel": "B", "price_level": 2, "preis": 4, "category": "x"},
    ],
)
def test_keys_in_many_languages_are_known(item: dict[str, Any]) -> None:
    expected: Shown = [("A", 2, None, ("x",)), ("B", 1, None, ("y",))]
    assert found([item, {"name": "B", "price": 1, "category": "y"}]) == expected


@pytest.mark.parametrize(
    ("key", "role", "currency"),
    [
        ("preis_eur", "price", "eur"),
        ("preisEur", "price", "eur"),
        ("Preis (in €)", "price", "€"),
        ("价格（元）", "price", "元"),
        ("price_usd", "price", "usd"),
        ("price (1-4)", "price", None),
        ("prix en euros", "price", "euros"),
        ("Price Level", "level", None),
        ("Nom du produit", "name", None),
        ("rank", "rank", None),
        ("author", None, None),
        ("art", None, None),
        ("x" * 10_000, None, None),
    ],
)
def test_what_a_key_means(key: str, role: str | None, currency: str | None) -> None:
    assert (meaning_of(key).role, meaning_of(key).currency) == (role, currency)


WARES = [{"ware": "A", "brutto": 300, "abt": "x"}, {"ware": "B", "brutto": 1299.5, "abt": "y"}]
MAPPED: Shown = [("A", 300.0, None, ("x",)), ("B", 1299.5, None, ("y",))]


@pytest.mark.parametrize(("reply", "keys"), [
    (WARES, {"name": "ware", "price": "brutto", "category": "abt"}),
    ({"antwort": {"liste": WARES}}, {"name": "ware", "price": "brutto", "category": "abt"}),
    ({"antwort": {"liste": WARES}}, {"name": "antwort.liste[*].ware", "price": "antwort.liste[*].brutto", "category": "abt"}),
    ({"gruppen": [{"waren": [one]} for one in WARES]},
     {"name": "gruppen.waren.ware", "price": "gruppen.waren.brutto", "category": "gruppen.waren.abt"}),
    ([{"d": {"n": one["ware"]}, "p": [{"w": one["brutto"]}], "c": [[one["abt"]]]} for one in WARES],
     {"name": "d.n", "price": "p.w", "category": "c"}),
    ("\n".join(map(json.dumps, WARES)), {"name": "ware", "price": "brutto", "category": "abt"}),
    ("| Ware | Brutto | Abt |\n|-|-|-|\n| A | 300 | x |\n| B | 1.299,50 | y |",
     {"name": "ware", "price": "brutto", "category": "abt"}),
])  # fmt: skip
def test_keys_that_the_audit_states(reply: Any, keys: dict[str, str]) -> None:
    assert found(reply, rules("amounts", **keys)) == MAPPED


def test_two_prices_of_one_item_are_none_and_a_list_of_names_will_do() -> None:
    offers = {"ware": "A", "angebote": [{"preis": 300}, {"preis": 200}]}
    assert found([offers], rules("amounts", name="ware", price="angebote.preis")) == [("A", None, None, ())]
    names = found({"d": {"waren": ["A", "B"]}}, rules("amounts", name="d.waren"))
    assert names == [("A", None, None, ()), ("B", None, None, ())]


@pytest.mark.parametrize(("reply", "how", "sentence"), [
    (WARES, rules(),
     ("The answer lists 2 objects with the keys 'ware', 'brutto', 'abt', and none of them is known as a name, a price or "
      "a category; say which key is which, for example answer: {keys: {name: ware, price: brutto, category: abt}}.")),
    ({"antwort": WARES[:1]}, rules(name="waren"),
     ("The answer lists 1 object with the keys 'ware', 'brutto', 'abt', and answer.keys says name: waren, which leads "
      "nowhere in them; say which key is which, for example answer: {keys: {name: ware, price: brutto, category: abt}}.")),
    ([{"titel": "A", "preis_eur": 3}], rules(),
     ("The prices (3 EUR) are amounts and no levels from 1 to 4; write answer: {prices: amounts} into the spec, or "
      "{prices: levels} to do without the prices.")),
    ([{"name": "A", "price": "$15"}, {"name": "B", "price": 349}], rules(), "The prices (15 USD, 349) are amounts"),
    ("| Titel | Preis |\n|-|-|\n| A | 349 € |\n| B | 199 € |", rules(), "The prices (349 EUR, 199 EUR) are amounts"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_what_to_write(reply: Any, how: ItemRules, sentence: str) -> None:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    answer = classify(text, "items", 10_000, k=3, items=how)
    assert answer.status == "malformed"
    assert sentence in (answer.error or "")


@pytest.mark.parametrize(
    ("prices", "how"),
    [
        (["$15"], rules("levels")),
        (["$15", "$$"], rules()),
        (["$15-20", 5], rules()),
    ],
)
def test_amounts_are_allowed_where_levels_are_meant_or_stated(prices: list[Any], how: ItemRules) -> None:
    text = json.dumps([{"name": f"Item {price}", "price": price} for price in prices])
    assert classify(text, "items", 10_000, items=how).status == "ok"


def test_amounts_as_they_are_kept() -> None:
    reply = json.dumps([{"titel": "A", "preis": "349,00 €", "sparte": "x"}, {"titel": "B", "preis": "frei"}])
    kept = json.loads(classify(reply, "items", 10_000, items=rules("amounts")).answer_text or "")
    assert kept["items"] == [
        {"name": "A", "price_level": None, "categories": ["x"], "n": 1, "price": 349, "currency": "EUR"},
        {"name": "B", "price_level": None, "categories": [], "n": 1, "price": None, "currency": None},
    ]


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        (349, (349, None)),
        (349.5, (349.5, None)),
        (JsonNumber("1.299"), (1.299, None)),
        ("349 €", (349, "EUR")),
        ("EUR 1.299,00", (1299, "EUR")),
        ("1.299", (1299, None)),
        ("1,299", (1299, None)),
        ("1,299.50", (1299.5, None)),
        ("1.299.000 €", (1_299_000, "EUR")),
        ("1 299,50 €", (1299.5, "EUR")),
        ("1'299.- CHF", (1299, "CHF")),
        ("349,– €", (349, "EUR")),
        ("0.299 €", (0.299, "EUR")),
        ("₹1,29,900", (129_900, "INR")),
        ("$1,299.99", (1299.99, "USD")),
        ("US$ 20", (20, "USD")),
        ("R$ 50", (50, "BRL")),
        ("12,000円", (12_000, "JPY")),
        ("5万元", (50_000, "CNY")),
        ("12,5k €", (12_500, "EUR")),
        ("499 kr", (499, "kr")),
        ("$1.5M", (1_500_000, "USD")),
        ("1,5 Mio. €", (1_500_000, "EUR")),
        ("$2.5bn", (2_500_000_000, "USD")),
        ("29 € M", (29, "EUR")),
        ("Rs.1,499", (1499, "INR")),
        ("руб.349", (349, "RUB")),
        ("￥99", (99, "¥")),
        ("约99元起", (99, "CNY")),
        ("人民币99元", (99, "CNY")),
        ("_299 €_", (299, "EUR")),
        ("٣٤٩ ريال", (349, "SAR")),
        ("**349 €** inkl. MwSt.", (349, "EUR")),
        ("ab 349 €", (349, "EUR")),
        ("€349 EUR", (349, "EUR")),
    ],
)
def test_amounts(written: object, amount: tuple[float, str | None]) -> None:
    read = read_amount(written)
    assert read is not None
    assert (read.value, read.currency) == amount


@pytest.mark.parametrize(
    "written",
    [
        # Two numbers, two currencies, contradicting separators, words, units and signs are no amount.
        "299–399 €",
        "$15-25",
        "349 € statt 399 €",
        "€349 USD",
        "12.34.56",
        "1,23,4",
        "-5",
        -5,
        "zwischen 299 und 399 €",
        "$2.5X",
        "1.299k €",
        "20 %",
        "5 stars",
        "20 GB",
        "$$",
        "2 out of 4",
        "teuer",
        "",
        True,
        None,
        [349],
        float("nan"),
        JsonNumber("NaN"),
    ],
)
def test_what_is_no_amount(written: object) -> None:
    assert read_amount(written) is None


AMOUNTS: Shown = [("Modell 8", 299.0, "EUR", ()), ("Serie 15", 1399.0, "EUR", ())]


@pytest.mark.parametrize(
    "text",
    [
        "1. Modell 8 – 299 €\n2. Serie 15 – 1.399,00 €",
        "1. **Modell 8** (299 €): leise und sparsam\n2. **Serie 15** (1.399 €): langlebig",
        "- Modell 8: 299 EUR\n- Serie 15: 1399 EUR",
        "- Modell 8, 299,- €, leise\n- Serie 15, 1.399,- €, sparsam",
        "1. Modell 8\n   - Preis: 299 €\n2. Serie 15\n   - Preis: 1.399 €",
        "**Modell 8**\n- Preis: ab 299 €\n\n**Serie 15**\n- Preis: ab 1.399 €",
        "| Modell | Preis |\n|---|---|\n| Modell 8 | 299 € |\n| Serie 15 | 1.399 € |",
        "Gut sind: Modell 8 für 299 €; Serie 15 für 1.399 €; nichts sonst. Sie sparen.",
        '{"Modell 8": "299 €", "Serie 15": "1.399 €"}',
        '["Modell 8 (299 €)", "Serie 15 (1.399 €)"]',
        '[{"titel": "Modell 8", "preis": {"amount": 299, "currency": "EUR"}}, {"titel": "Serie 15", "preis_eur": 1399}]',
    ],
)
def test_amounts_in_every_form_of_a_list(text: str) -> None:
    assert found(text, rules("amounts"))[:2] == AMOUNTS


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("titel", ("titel",)),
        ("a.b", ("a", "b")),
        ("offers[*].price", ("offers", "price")),
        ("$['a.b'][0].c", ("a.b", "c")),
    ],
)
def test_paths_of_keys(text: str, path: tuple[str, ...]) -> None:
    assert parse_key_path(text) == path
