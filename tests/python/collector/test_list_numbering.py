"""The same titles are read whatever the numbering, the separators, the order and the emphasis of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from collector.answers.recommendations.lists import find_list

# Titles that look like marks: years, numbers, separators of lists, letters, numerals, in several scripts.
TITLES = (
    "1984",
    "7 Years",
    "2001: A Space Odyssey",
    "24: Live Another Day",
    "百年孤独",
    "三国演义",
    "一九八四",
    "小雨、大雪",
    "十面埋伏",
    "战争与和平",
    "千と千尋の神隠し",
    "기생충",
    "Преступление и наказание",
    "ألف ليلة وليلة",
    "गोदान",
    "I, Robot",
    "A.I. Artificial Intelligence",
    "M. Butterfly",
    "(500) Days of Summer",
    "[REC]",
    "The Good, the Bad and the Ugly",
    "Pride and Prejudice",
    "Ocean's 11",
    "Blink-182",
    "1-800-273-8255",
    "99 Luftballons",
    "Spider-Man: No Way Home",
    "6 in the Mornin'",
    "3 Idiots",
    "V for Vendetta",
    "C'est la vie",
    "HUMBLE.",
    "10",
    "100% Wolf",
    "Die Verwandlung",
    "Où est le swimming-pool ?",
)


def _digits(zero: str) -> Callable[[int], str]:
    return lambda n: "".join(chr(ord(zero) + int(one)) for one in str(n))


def _chinese(n: int) -> str:
    ones = "零一二三四五六七八九"
    tens, rest = divmod(n, 10)
    return ("" if tens < 1 else ("" if tens == 1 else ones[tens]) + "十") + (ones[rest] if rest else "")


def _roman(n: int) -> str:
    written = ""
    for value, letters in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            written, n = written + letters, n - value
    return written


ARABIC, PERSIAN, HINDI, BENGALI, THAI, WIDE = map(_digits, "٠۰०০๐０")
Mark = Callable[[int], str]
# What stands before a title, the space behind it included; for up to 20 titles.
MARKS: dict[str, Mark] = {
    "1.": lambda n: f"{n}. ",
    "1. tight": lambda n: f"{n}.",
    "1)": lambda n: f"{n}) ",
    "1) tight": lambda n: f"{n})",
    "(1)": lambda n: f"({n}) ",
    "（1）": lambda n: f"（{n}）",
    "1）": lambda n: f"{n}）",
    "1、": lambda n: f"{n}、",
    "1．": lambda n: f"{n}．",
    "1：": lambda n: f"{n}： ",
    "1:": lambda n: f"{n}: ",
    "1 :": lambda n: f"{n} : ",
    "1 .": lambda n: f"{n} . ",
    "1 -": lambda n: f"{n} - ",
    "1-": lambda n: f"{n}- ",
    "1 –": lambda n: f"{n} – ",
    "1.)": lambda n: f"{n}.) ",
    "1.-": lambda n: f"{n}.- ",
    "1\\.": lambda n: f"{n}\\. ",
    "#1": lambda n: f"#{n} ",
    "#1:": lambda n: f"#{n}: ",
    "No. 1": lambda n: f"No. {n}: ",
    "№ 1": lambda n: f"№ {n} ",
    "01.": lambda n: f"{n:02}. ",
    "[1]": lambda n: f"[{n}] ",
    "【1】": lambda n: f"【{n}】",
    "1]": lambda n: f"{n}] ",
    "1/": lambda n: f"{n}/ ",
    "1º": lambda n: f"{n}º ",
    "1st": lambda n: f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }: ",
    "**1.**": lambda n: f"**{n}.** ",
    "**1**.": lambda n: f"**{n}**. ",
    "## 1.": lambda n: f"## {n}. ",
    "> 1.": lambda n: f"> {n}. ",
    "١.": lambda n: f"{ARABIC(n)}. ",
    "١-": lambda n: f"{ARABIC(n)}- ",
    "۱.": lambda n: f"{PERSIAN(n)}. ",
    "१.": lambda n: f"{HINDI(n)}. ",
    "१)": lambda n: f"{HINDI(n)}) ",
    "১।": lambda n: f"{BENGALI(n)}. ",
    "๑.": lambda n: f"{THAI(n)}. ",
    "१।": lambda n: f"{HINDI(n)}। ",
    "1，": lambda n: f"{n}，",
    "1 、": lambda n: f"{n} 、",
    "壹、": lambda n: "壹贰叁肆伍陆柒捌玖拾"[n - 1] + "、",
    "1위": lambda n: f"{n}위. ",
    "１．": lambda n: f"{WIDE(n)}．",
    "（１）": lambda n: f"（{WIDE(n)}）",
    "一、": lambda n: f"{_chinese(n)}、",
    "一.": lambda n: f"{_chinese(n)}. ",
    "（一）": lambda n: f"（{_chinese(n)}）",
    "第一、": lambda n: f"第{_chinese(n)}、",
    "第一本：": lambda n: f"第{_chinese(n)}本：",
    "第1位：": lambda n: f"第{n}位：",
    "①": lambda n: chr(ord("①") + n - 1),
    "① ": lambda n: chr(ord("①") + n - 1) + " ",
    "⑴": lambda n: chr(ord("⑴") + n - 1) + " ",
    "⒈": lambda n: chr(ord("⒈") + n - 1) + " ",
    "1️⃣": lambda n: "🔟 " if n == 10 else "".join(f"{one}\ufe0f\u20e3" for one in str(n)) + " ",
    "I.": lambda n: f"{_roman(n)}. ",
    "i)": lambda n: f"{_roman(n).lower()}) ",
    "(ii)": lambda n: f"({_roman(n).lower()}) ",
    "A.": lambda n: f"{chr(64 + n)}. ",
    "a)": lambda n: f"{chr(96 + n)}) ",
    "(b)": lambda n: f"({chr(96 + n)}) ",
    "а)": lambda n: f"{'абвгдежзиклмнопрстуф'[n - 1]}) ",
    "α)": lambda n: f"{'αβγδεζηθικλμνξοπρστυ'[n - 1]}) ",
    "Song 1:": lambda n: f"Song {n}: ",
    "Option 1 –": lambda n: f"Option {n} – ",
    "推荐1：": lambda n: f"推荐{n}：",
}
BULLETS = "- |* |+ |• |•|· |– |— |‣ |▪ |● |○ |◆ |➤ |✓ |✅ |→ |🎬 |📚 |・|- [ ] |* [x] |※ |❖ |-".split("|")
# What numbers without a mark behind them are part of is told by the row.
BARE: dict[str, Mark] = {
    "1": lambda n: f"{n} ",
    "1 below": lambda n: f"{n}\n",
    "#1 below": lambda n: f"#{n}\n",
    "- 1": lambda n: f"- {n} ",
}
MARKS |= {
    "(#1)": lambda n: f"(#{n}) ",
    "[#1]": lambda n: f"[#{n}] ",
    "#1.": lambda n: f"#{n}. ",
    "#1)": lambda n: f"#{n}) ",
    "#1 –": lambda n: f"#{n} – ",
    "**#1**": lambda n: f"**#{n}** ",
    "**#1:**": lambda n: f"**#{n}:** ",
    "### #1": lambda n: f"### #{n} ",
    "- #1": lambda n: f"- #{n} ",
    "- #1:": lambda n: f"- #{n}: ",
    "- 1.": lambda n: f"- {n}. ",
    "* 1)": lambda n: f"* {n}) ",
    "• **1**": lambda n: f"• **{n}** ",
    "**1**": lambda n: f"**{n}** ",
    "1 |": lambda n: f"{n} | ",
    "1 →": lambda n: f"{n} → ",
    "1 •": lambda n: f"{n} • ",
    "1;": lambda n: f"{n}; ",
    "1»": lambda n: f"{n}» ",
    "{1}": lambda n: f"{{{n}}} ",
    "<1>": lambda n: f"<{n}> ",
    "Top 1:": lambda n: f"Top {n}: ",
}
EMPHASIS = (
    "{}",
    "**{}**",
    "*{}*",
    "__{}__",
    "***{}***",
    "`{}`",
    '"{}"',
    "“{}”",
    "„{}“",
    "«{}»",
    "« {} »",
    "»{}«",
    "”{}”",
    "‹{}›",
    "《{}》",
    "「{}」",
    "『{}』",
    '**"{}"**',
    "**《{}》**",
    "**{}** – by somebody",
    '"{}" by somebody',
    "《{}》 - 某人",
    "某人《{}》",
    "[{}](https://example.org/x)",
)
SEPARATORS = ("\n", "\n\n", "  \n", "\r\n", ";\n", "<br>\n", "<br/>")
AROUND = (
    ("", ""),
    ("Here are some for you:\n\n", ""),
    ("Sure!\n", "\n\nI hope that you like these!"),
    ("以下是推荐：\n", "\n\n希望您喜欢这些作品。"),
)
sets_of_titles = st.lists(st.sampled_from(TITLES), min_size=3, max_size=9, unique=True)


def _rendered(
    titles: Sequence[str], mark: Mark, emphasis: str, separator: str, around: tuple[str, str]
) -> str:
    lines = [mark(n) + emphasis.format(title) for n, title in enumerate(titles, start=1)]
    return around[0] + separator.join(lines) + around[1]


def _holds(emphasis: str, title: str) -> bool:
    """Whether a title can stand in these marks: one that ends with a mark of its own may not."""
    return not (set("'`\"[]") & set(title) and emphasis not in ("{}", "**{}**", "«{}»", "《{}》"))


@pytest.mark.parametrize("name", MARKS)
@given(
    titles=sets_of_titles,
    emphasis=st.sampled_from(EMPHASIS),
    separator=st.sampled_from(SEPARATORS),
    data=st.data(),
)
@settings(max_examples=12)
def test_the_titles_come_back_whatever_the_numbering(
    name: str, titles: list[str], emphasis: str, separator: str, data: st.DataObject
) -> None:
    titles = [title for title in titles if _holds(emphasis, title)]
    assume(len(titles) >= 3)
    around = data.draw(st.sampled_from(AROUND))
    reordered = data.draw(st.permutations(titles))
    for one in (titles, reordered):
        # The full stop may be that of "A; B; C.".
        assume(separator != ";\n" or not one[-1].endswith("."))
        found = find_list(_rendered(one, MARKS[name], emphasis, separator, around))
        assert list(found.items) == list(one)


@given(
    titles=sets_of_titles,
    emphasis=st.sampled_from(EMPHASIS),
    separator=st.sampled_from(SEPARATORS),
    data=st.data(),
)
@settings(max_examples=150)
def test_the_titles_come_back_whatever_the_bullet(
    titles: list[str], emphasis: str, separator: str, data: st.DataObject
) -> None:
    titles = [title for title in titles if _holds(emphasis, title)]
    assume(len(titles) >= 3)
    bullet = data.draw(st.sampled_from(BULLETS))
    around = data.draw(st.sampled_from(AROUND))
    if bullet == "-" and any((emphasis.format(title)[0]).isdigit() for title in titles):
        bullet = "- "
    found = find_list(_rendered(titles, lambda _: bullet, emphasis, separator, around))
    assert list(found.items) == titles


@pytest.mark.parametrize("name", [*MARKS, *BARE])
@given(
    titles=st.lists(st.sampled_from(TITLES), min_size=2, max_size=9, unique=True),
    around=st.sampled_from(AROUND),
)
@settings(max_examples=12)
def test_two_titles_and_titles_that_count_down(name: str, titles: list[str], around: tuple[str, str]) -> None:
    mark = (MARKS | BARE)[name]
    if name in BARE or name.endswith("tight") or name == "1-":
        # "3.1984" may be an amount, and the lines "1" and "10" titles.
        titles = [title for title in titles if not title[0].isdigit()]
        assume(len(titles) > 2)
    lines = [mark(n) + title for n, title in enumerate(titles, start=1)]
    for written in (lines, lines[::-1]):
        found = find_list(around[0] + "\n".join(written) + around[1])
        assert list(found.items) == titles
