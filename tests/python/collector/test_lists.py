"""Test the reading of lists in replies: their forms, the parts cut off an item, and texts without a list."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.recommendations.list_titles import clean_item
from collector.answers.recommendations.lists import find_list

HELLO = ["Hello", "Skyfall", "Rolling in the Deep"]
TWO = ["活着", "边城"]
THREE = ["Faust", "Emma", "Ulysses"]


def items_of(reply: str) -> list[str]:
    return list(find_list(reply).items)


FORMS = {
    "json": [
        '["Hello", "Skyfall", "Rolling in the Deep"]',
        'Sure! Here they are:\n```json\n["Hello", "Skyfall", "Rolling in the Deep",]\n```\nEnjoy!',
        '[{"rank": 1, "title": "Hello"}, {"rank": 2, "title": "Skyfall"}, {"rank": 3, "Title": "Rolling in the Deep"}]',
        '[{"rank": 1, "work": "Hello"}, {"rank": 2, "work": "Skyfall"}, {"rank": 3, "work": "Rolling in the Deep"}]',
        '{"recommendations": [{"song": "Hello"}, {"song": "Skyfall"}, {"song": "Rolling in the Deep"}]}',
        '{"title": "My list", "songs": ["Hello", "Skyfall", "Rolling in the Deep"]}',
        '{"ballads": ["Hello"], "film songs": ["Skyfall"], "other": ["Rolling in the Deep"]}',
        '{"Hello": "A ballad.", "Skyfall": "From a film.", "Rolling in the Deep": {"year": 2010}}',
        '{"songs": {"Hello": "A ballad.", "Skyfall": "From a film.", "Rolling in the Deep": ""}}',
        '{"1": "Hello", "2": "Skyfall", "3": "Rolling in the Deep"}',
        '{"song_1": "Hello", "song_2": "Skyfall", "song_3": "Rolling in the Deep"}',
        '{"title": "Hello"}\n{"title": "Skyfall"}\n{"title": "Rolling in the Deep"}',
        '["1. Hello", "2. Skyfall", "3. Rolling in the Deep"]',
        '[["Hello", "Adele"], ["Skyfall", "Adele"], ["Rolling in the Deep", "Adele"]]',
        '{"title": "Hello", "by": ["Adele"]}\n{"title": "Skyfall"}\n{"title": "Rolling in the Deep"}',
        '["Hello", "Skyfall", "Rolling in the Deep", "Some',
    ],
    "numbered": [
        "1. Hello\n2. Skyfall\n3. Rolling in the Deep",
        "1.  Hello\n2.  Skyfall\n3.  Rolling in the Deep \n",
        "Here are 3 songs:\n\n1) Hello\n2) Skyfall\n3) Rolling in the Deep\n\nLet me know if you want more!",
        "1: Hello\n2: Skyfall\n3: Rolling in the Deep",
        "(1) Hello\n(2) Skyfall\n(3) Rolling in the Deep",
        "1 - Hello\n2 - Skyfall\n3 - Rolling in the Deep",
        "**1.** Hello\n**2**. Skyfall\n**3.** *Rolling in the Deep*",
        "**1. Hello** – a ballad\n**2. Skyfall:** a film song\n**3. Rolling in the Deep**",
        '1. "Hello" by Adele\n2. **Skyfall** (2012): from a film\n3. **"Rolling in the Deep"** - a hit',
        "### 1. Hello\nA ballad that opens an album.\n\n### 2. Skyfall\nA film song.\n\n### 3. Rolling in the Deep\nA hit.",
        "1. Hello\n   - Year: 2015\n   - Mood: sad\n2. Skyfall\n   - Year: 2012\n3. Rolling in the Deep\n   - Year: 2010",
        "1. Hello 2. Skyfall 3. Rolling in the Deep",
        "Here you go: 1. Hello, 2. Skyfall, 3. Rolling in the Deep",
        "1. Hello 2. Skyfall\n3. Rolling in the Deep",
        "1.\nHello\n2.\nSkyfall\n3.\nRolling in the Deep",
        "Ballads\n1. Hello\n\nFilm songs\n1. Skyfall\n2. Rolling in the Deep",
        "> 1. Hello\n> 2. Skyfall\n> 3. Rolling in the Deep",
        "1. [Hello](https://example.org/a)\n2. [Skyfall](https://example.org/b)\n3. `Rolling in the Deep`",
        "1. Adele - Hello\n2. Adele - Skyfall\n3. Adele - Rolling in the Deep",
        "1. Hello - Adele\n2. Skyfall - Adele\n3. Rolling in the Deep - Adele",
        '1. Adele - "Hello"\n2. Adele – “Skyfall”\n3. Adele — «Rolling in the Deep»',
        "Voici une liste de 3 titres :\n1. Hello\n2. Skyfall\n3. Rolling in the Deep\nBonne écoute !",
        "1. Hello\n3. Skyfall\n4. Rolling in the Deep",
    ],
    "bullets": [
        "- Hello\n- Skyfall\n- Rolling in the Deep",
        "* Hello\n* Skyfall\n* Rolling in the Deep",
        "Some songs for you:\n\n• Hello\n•Skyfall\n· Rolling in the Deep\n\nEnjoy!",
        "– Hello\n– Skyfall\n– Rolling in the Deep",
        "*   **Hello:** A ballad.\n*   **Skyfall:** A film song.\n*   **Rolling in the Deep:** A hit.",
        "- Hello\n    - a ballad\n- Skyfall\n    - a film song\n- Rolling in the Deep",
        "* **Ballads:**\n    * Hello\n    * Skyfall\n* **Others:**\n    * Rolling in the Deep",
        "1. **Ballads:**\n   - Hello\n   - Skyfall\n2. **Others:**\n   - Rolling in the Deep",
        "- 1. Hello\n- 2. Skyfall\n- 3. Rolling in the Deep",
    ],
    "prose": [
        'I would recommend "Hello," "Skyfall," and "Rolling in the Deep."',
        "You may like *Hello*, *Skyfall* and *Rolling in the Deep* by Adele.",
        "Je recommande « Hello », « Skyfall » et « Rolling in the Deep ».",
        "I recommend Hello, Skyfall, and Rolling in the Deep. They are all by Adele.",
        "Adele has many fine songs, such as Hello, Skyfall and Rolling in the Deep.",
        "Here are three songs: Hello, Skyfall, Rolling in the Deep.",
        "Three songs: Hello; Skyfall; Rolling in the Deep",
        "Hello, Skyfall, and Rolling in the Deep",
        "Te recomiendo: Hello, Skyfall y Rolling in the Deep.",
    ],
    "lines": [
        "Hello\nSkyfall\nRolling in the Deep",
        "Here are three songs\n\nHello\n\nSkyfall\n\nRolling in the Deep\n\nI hope that you enjoy these songs!",
        '"Hello"\n"Skyfall"\n"Rolling in the Deep"',
        "**Hello**\n**Skyfall**\n**Rolling in the Deep**",
        "```\nHello\nSkyfall\nRolling in the Deep\n```",
    ],
}


@pytest.mark.parametrize(
    ("form", "reply"), [(form, reply) for form, replies in FORMS.items() for reply in replies]
)
def test_every_form_of_a_list(form: str, reply: str) -> None:
    assert find_list(reply).form == form
    assert items_of(reply) == HELLO


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
        # Two tables with one header are one list.
        ("Old\n\n| Book |\n|-|\n| Faust |\n| Emma |\n\nNew\n\n| Book |\n|-|\n| Ulysses |", THREE),
        ("1. Faust\n2. Emma\n3. Ulysses\n\n| Book | Pages |\n|-|-|\n| Faust | 200 |", THREE),
    ],
)
def test_a_table_is_read_by_its_column_of_names(reply: str, items: list[str]) -> None:
    assert items_of(reply) == items


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
    ],
)
def test_a_list_in_one_line(reply: str, items: list[str]) -> None:
    assert items_of(reply) == items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        # Headings over items, and items over remarks.
        ("一、小说：\n1. 活着\n二、散文：\n1. 边城", TWO),
        ("一、小说\n- 活着\n二、散文\n- 边城", ["小说", "散文"]),
        ("一、小说：\n- 活着\n二、散文：\n- 边城", TWO),
        ("I. Plays:\n  A. Faust\nII. Novels:\n  A. Emma\n  B. Ulysses", THREE),
        ("I. Plays:\n  A. Faust\n  B. Emma\nII. Novels:\n  A. Ulysses", THREE),
        ("1. Plays:\n  a) Faust\n  b) Emma\n2. Novels:\n  a) Ulysses", THREE),
        (
            "# Books\n\n### Faust\nA play about a pact with the devil.\n\n### Emma\nA novel about matches that fail.",
            THREE[:2],
        ),
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
        ('["一、活着", "二、边城"]', TWO),
    ],
)
def test_the_items_of_a_nested_or_labelled_list(reply: str, items: list[str]) -> None:
    assert items_of(reply) == items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        (
            "1. 1. Outside\n2. 100\n3. 99 Problems\n4. 99 Problems\n5. 2099",
            ["1. Outside", "100", "99 Problems", "99 Problems", "2099"],
        ),
        (
            "7 Rings\n1-800-273-8255\n24: Live Another Day\n99 Luftballons\n1979",
            ["7 Rings", "1-800-273-8255", "24: Live Another Day", "99 Luftballons", "1979"],
        ),
    ],
)
def test_titles_that_look_like_marks_and_repeats_are_kept(reply: str, items: list[str]) -> None:
    assert items_of(reply) == items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        # By performer.
        (
            "1. Drake - One Dance\n2. Nas - Ether\n3. Drake - Hotline Bling\n4. Drake - Started",
            ["One Dance", "Ether", "Hotline Bling", "Started"],
        ),
        # By title.
        ("1. Yellow - Coldplay\n2. Intro - The xx\n3. Clocks - Coldplay", ["Yellow", "Intro", "Clocks"]),
        # One title twice.
        (
            "1. Intro - The xx\n2. Intro - M83\n3. Yellow - Coldplay\n4. Clocks - Coldplay",
            ["Intro", "Intro", "Yellow", "Clocks"],
        ),
        # Some by one performer.
        (
            "1. Hello\n2. Coldplay - Yellow\n3. Skyfall\n4. Coldplay - Clocks",
            ["Hello", "Yellow", "Skyfall", "Clocks"],
        ),
    ],
)
def test_performers_before_a_dash_are_recognised_by_their_repeats(reply: str, items: list[str]) -> None:
    assert items_of(reply) == items


@pytest.mark.parametrize(
    ("body", "item"),
    [
        ("  The   Sound\tof Silence ", "The Sound of Silence"),
        ("Inception (2010)", "Inception (2010)"),
        ("Inception - a film about dreams", "Inception"),
        ("Inception — a film - about dreams", "Inception"),
        ("Spider-Man: No Way Home", "Spider-Man: No Way Home"),
        ("**Inception** (2010): a film", "Inception"),
        ('"Star Wars - A New Hope" by George Lucas', "Star Wars - A New Hope"),
        ("'Hello' by Adele", "Hello"),
        ("'Hello'", "Hello"),
        ("'Til I Collapse", "'Til I Collapse"),
        ("'39", "'39"),
        ("Livin' la Vida Loca", "Livin' la Vida Loca"),
        ("S**t and F**k", "S**t and F**k"),
        ("B**", "B**"),
        ("The **Big** Sleep", "The Big Sleep"),
        ("6 in the Mornin'", "6 in the Mornin'"),
        ("HUMBLE.", "HUMBLE."),
        ("?", "?"),
        ("Hello,", "Hello"),
        ("12 Angry Men", "12 Angry Men"),
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
        "1.  \n2.  \n3. \n",
        "1.\n2.\n3.",
        "[]",
        "{}",
        "[{}]",
        '{"songs": []}',
        "1. ...\n2. ___",
        "- \n- \n- …",
    ],
)
def test_empty_lists(reply: str) -> None:
    found = find_list(reply)
    assert found.items == ()
    assert found.form in ("json", "numbered", "bullets")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n ",
        "I'm sorry, I can't.",
        "Could you tell me more?\n\n* What kind of music do you like?\n* Which artists do you listen to?\n",
        "['Hello', 'Skyfall']",
        '{"songs": ["Hello" "Skyfall"]}',
        "The Silent River",
        "No list, only 1.5 million songs and 2.5 million more of them, says everybody who knows them all well.",
        "Faust【1】",
        "I. Faust",
        "A. Faust",
        "→ Faust",
    ],
)
def test_what_is_no_list(reply: str) -> None:
    assert items_of(reply) == []


def test_json_that_is_cut_off_says_so() -> None:
    assert find_list('["Hello", "Sky').is_unclosed
    assert find_list('[{"title": "Hello"}, {"title": "Sky').items == ("Hello",)
    assert not find_list('["Hello"]').is_unclosed


# Ordinary titles with marks, which are kept exactly inside any other marks.
titles = st.lists(
    st.from_regex(r"[A-ZÀÉÖŁ][a-zàéöł]{1,8}(?: [A-Za-z0-9Ññ][a-z0-9'’]{0,8}){0,4}[!?.]?", fullmatch=True)
    .map(lambda title: " ".join(title.split()))
    .filter(lambda title: not title.endswith("?") and "'" not in title[-1]),
    min_size=2,
    max_size=40,
)


@given(titles)
def test_numbered_lists_come_back(listed: list[str]) -> None:
    for mark in ("{}. ", "{}) ", "({}) ", "**{}.** ", "{}: "):
        text = "\n".join(mark.format(number) + title for number, title in enumerate(listed, start=1))
        assert items_of(f"Sure, here you are:\n\n{text}\n\nEnjoy!") == listed


@given(titles)
def test_bulleted_and_quoted_lists_come_back(listed: list[str]) -> None:
    for mark in ("- {}", "* {}", "• {}", "- **{}**", '* "{}"', "- *{}* by somebody"):
        assert items_of("\n".join(mark.format(title) for title in listed)) == listed


@given(titles)
def test_json_lists_come_back(listed: list[str]) -> None:
    for value in (listed, [{"title": one, "why": "x"} for one in listed], {"songs": listed}):
        assert items_of(f"```json\n{json.dumps(value, indent=1)}\n```") == listed


@given(st.text() | st.text(alphabet=st.sampled_from("-*\"1.) \n[]{}:,_`“”«»'a"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    for item in items_of(text):
        assert item == " ".join(item.split())
        assert item
