"""Test lists in many languages: tables, quotes, headings, labels, several items in a line, and texts without a list."""

from __future__ import annotations

import pytest

from collector.answers.recommendations.lists import clean_item, find_list

TWO = ["活着", "边城"]
THREE = ["Faust", "Emma", "Ulysses"]


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("| Title | Year |\n|---|---|\n| Faust | 1808 |\n| Emma | 1815 |\n| Ulysses | 1922 |", THREE),
        (
            "| # | Book | Author |\n|--|--|--|\n| 1 | **Faust** | Goethe |\n| 2 | Emma | Austen |\n| 3 | Ulysses | Joyce |",
            THREE,
        ),
        (
            "| Autor | Titel |\n|---|---|\n| Goethe | „Faust“ |\n| Austen | Emma |\n| Joyce | *Ulysses* |",
            THREE,
        ),
        ("Werk | Jahr\n:-|-:\n1. Faust | 1808\n2. Emma | 1815\n3. Ulysses | 1922\n\nViel Freude!", THREE),
        ("| Titre |\n|---|\n| Faust |\n| Emma |\n| Ulysses |", THREE),
        ("| 序号 | 书名 | 作者 |\n|---|---|---|\n| 1 | 《活着》 | 余华 |\n| 2 | 《边城》 | 沈从文 |", TWO),
        # Remarks below a table are no rows; two tables with one header are one list.
        (
            "| Book | By |\n|-|-|\n| Faust | Goethe |\n| Emma | Austen |\n\nNotes:\n- both are old\n- enjoy",
            THREE[:2],
        ),
        ("Old\n\n| Book |\n|-|\n| Faust |\n| Emma |\n\nNew\n\n| Book |\n|-|\n| Ulysses |", THREE),
        ("1. Faust\n2. Emma\n3. Ulysses\n\n| Book | Pages |\n|-|-|\n| Faust | 200 |", THREE),
    ],
)
def test_a_table_is_read_by_its_column_of_names(reply: str, items: list[str]) -> None:
    assert list(find_list(reply).items) == items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("①活着②边城", TWO),
        ("1、活着 2、边城", TWO),
        ("1.活着；2.边城。", TWO),
        ("推荐如下：一、活着；二、边城。", TWO),
        ("a) Faust, b) Emma, c) Ulysses", THREE),
        ("我推荐《活着》和《边城》。", TWO),
        ("Ich empfehle „Faust“, „Emma“ und „Ulysses“.", THREE),
        ("Jag rekommenderar ”Faust”, ”Emma” och ”Ulysses”.", THREE),
        ("Empfehlenswert sind »Faust«, »Emma« und »Ulysses«.", THREE),
        ("『活着』と『边城』がおすすめです。", TWO),
        ("推荐：活着、边城、围城。", [*TWO, "围城"]),
        ("Ich empfehle Ihnen: Faust, Emma und Ulysses.", THREE),
        # Chinese comma lists whose last part may be two titles or one are left alone.
        ("推荐：活着、边城、战争与和平。", []),
    ],
)
def test_a_list_in_one_line(reply: str, items: list[str]) -> None:
    assert list(find_list(reply).items) == items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        # Headings over items, and items over remarks.
        ("一、小说：\n1. 活着\n二、散文：\n1. 边城", TWO),
        ("一、小说\n- 活着\n二、散文\n- 边城", ["小说", "散文"]),
        ("一、小说：\n- 活着\n二、散文：\n- 边城", TWO),
        ("一、活着\n1. 作者：余华\n2. 年代：1993\n二、边城\n1. 作者：沈从文\n2. 年代：1934", TWO),
        ("I. Plays:\n  A. Faust\nII. Novels:\n  A. Emma\n  B. Ulysses", THREE),
        ("I. Plays:\n  A. Faust\n  B. Emma\nII. Novels:\n  A. Ulysses", THREE),
        ("1. Plays:\n  a) Faust\n  b) Emma\n2. Novels:\n  a) Ulysses", THREE),
        (
            "# Books\n\n### Faust\nA play about a pact with the devil.\n\n### Emma\nA novel about matches that fail.",
            THREE[:2],
        ),
        (
            "**Faust**\nA play about a pact with the devil.\n\n**Emma**\nA novel about matches that fail.",
            THREE[:2],
        ),
        ("**Plays**\nFaust\nHamlet\n\n**Novels**\nEmma\nUlysses", ["Faust", "Hamlet", "Emma", "Ulysses"]),
        # This may be a title over its author, or a heading over a title.
        ("**Faust**\nGoethe\n\n**Emma**\nAusten", []),
        ("1. Title: Faust\n   Author: Goethe\n2. Title: Emma\n   Author: Austen", THREE[:2]),
        ("- Titel: Faust, Autor: Goethe\n- Titel: Emma, Autor: Austen", THREE[:2]),
        ("- 书名：活着；作者：余华\n- 书名：边城；作者：沈从文", TWO),
        ("<ol><li>Faust</li><li><b>Emma</b></li><li>Ulysses</li></ol>", THREE),
        ("3. Ulysses\n2. Emma\n1. Faust", THREE),
        ("6. Faust\n7. Emma\n8. Ulysses", THREE),
        ("1 Faust\n2 Emma\n3 Ulysses", THREE),
        ("① Faust", THREE[:1]),
        ("1. Faust [1]\n2. Emma [2][3]\n\n[1] https://a.example\n[2] https://b.example", THREE[:2]),
        ("1. 🎵 Faust\n2. 🎵 Emma\n3. 🎵 Ulysses", THREE),
        ("1. Faust: A play about a pact.\n2. Emma: A novel about matches that fail.", THREE[:2]),
        ("1. 活着：讲述了福贵的一生。\n2. 边城：描写了湘西的风土人情。", TWO),
        ("| 1 | Faust | Goethe |\n| 2 | Emma | Austen |", THREE[:2]),
        ("| # | Book |\n| 1 | Faust |\n| 2 | Emma |", THREE[:2]),
        ("1\tFaust\tGoethe\n2\tEmma\tAusten\n3\tUlysses\tJoyce", THREE),
        ("\u200f1. Faust\n\u200f2. Emma\n\u200f3. Ulysses", THREE),
        ("以下是两本书：\n活着\n边城\n希望您喜欢这些书。", TWO),
        ("活着\n边城", TWO),
        ('[{"autor": "Goethe", "titel": "Faust"}, {"autor": "Austen", "titel": "Emma"}]', THREE[:2]),
        (
            '{"libros": [{"autora": "Austen", "título": "Emma"}, {"autor": "Joyce", "título": "Ulysses"}]}',
            THREE[1:],
        ),
        ('["一、活着", "二、边城"]', TWO),
    ],
)
def test_the_items_of_a_nested_or_labelled_list(reply: str, items: list[str]) -> None:
    assert list(find_list(reply).items) == items


@pytest.mark.parametrize(
    ("body", "item"),
    [
        ("《活着》（余华）", "活着"),
        ("余华《活着》", "活着"),
        ("村上春樹『ノルウェイの森』", "ノルウェイの森"),
        ("米津玄師「Lemon」", "Lemon"),
        ("劇場版「鬼滅の刃」無限列車編", "劇場版「鬼滅の刃」無限列車編"),
        ("活着——余华", "活着"),
        ("<기생충> (2019)", "기생충"),
        ("‹Emma›", "Emma"),
        ("„Faust“ von Goethe", "Faust"),
        ("<b>Emma</b>", "Emma"),
        ("[REC]", "[REC]"),
        ("小雨、大雪", "小雨、大雪"),
        ("2001：太空漫游", "2001：太空漫游"),
    ],
)
def test_what_is_cut_off_an_item(body: str, item: str) -> None:
    assert clean_item(body) == item


@pytest.mark.parametrize(
    "reply",
    [
        "您喜欢什么类型的书？\n1、小说还是散文？\n2、古典还是现代？",
        "这一段说明文字没有任何书名，只是介绍，请您补充。\n第二段也没有书名，请告诉我您的喜好。",
        "The price rose from 1.5 million to 2.5 million.",
        "Faust【1】",
        "I. Faust",
        "A. Faust",
        "→ Faust",
    ],
)
def test_what_is_no_list(reply: str) -> None:
    assert list(find_list(reply).items) == []
