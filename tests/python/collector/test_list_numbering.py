"""Test that a list's titles are read with any numbering, separator, order and emphasis."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.reading.list_shapes import numbers
from collector.answers.recommendations.lists import find_list

# Titles that look like marks: years, numbers, separators of lists, letters, numerals, in several scripts.
TITLES = (
    "1984", "7 Years", "2001: A Space Odyssey", "24: Live Another Day", "百年孤独", "三国演义", "一九八四", "小雨、大雪",
    "十面埋伏", "战争与和平", "千と千尋の神隠し", "기생충", "Преступление и наказание", "ألف ليلة وليلة", "गोदान",
    "I, Robot", "A.I. Artificial Intelligence", "M. Butterfly", "(500) Days of Summer", "[REC]",
    "The Good, the Bad and the Ugly", "Pride and Prejudice", "Ocean's 11", "Blink-182", "1-800-273-8255", "99 Luftballons",
    "Spider-Man: No Way Home", "6 in the Mornin'", "3 Idiots", "V for Vendetta", "C'est la vie", "HUMBLE.", "10",
    "100% Wolf", "Die Verwandlung", "Où est le swimming-pool ?",
)  # fmt: skip


# The text before a title, including the space after it, in the notation of benchmarks/reading/lists.yml.
MARKS = (
    "{n}. ", "{n}.", "{n}) ", "{n})", "({n}) ", "（{n}）", "{n}）", "{n}、", "{n}．", "{n}： ", "{n}: ", "{n} : ", "{n} . ",
    "{n} - ", "{n}- ", "{n} – ", "{n}.) ", "{n}.- ", "{n}\\. ", "0{n}. ", "#{n} ", "#{n}: ", "#{n}. ", "#{n}) ", "#{n} – ",
    "(#{n}) ", "[#{n}] ", "No. {n}: ", "№ {n} ", "[{n}] ", "【{n}】", "{n}] ", "{{{n}}} ", "<{n}> ", "{n}/ ", "{n}; ",
    "{n}» ", "{n}，", "{n} 、", "{n} | ", "{n} → ", "{n} • ", "{n}º ", "{n}위. ", "{nth}: ", "**{n}.** ", "**{n}**. ",
    "**{n}** ", "**#{n}** ", "**#{n}:** ", "## {n}. ", "### #{n} ", "> {n}. ", "- {n}. ", "* {n}) ", "- #{n} ", "- #{n}: ",
    "• **{n}** ", "{ar}. ", "{ar}- ", "{fa}. ", "{hi}. ", "{hi}) ", "{hi}। ", "{bn}. ", "{th}. ", "{wide}．", "（{wide}）",
    "{zh}、", "{zh}. ", "（{zh}）", "第{zh}、", "第{zh}本：", "第{n}位：", "{formal}、", "{circled}", "{circled} ",
    "{bracketed} ", "{dotted} ", "{keycap} ", "{ROMAN}. ", "{roman}) ", "({roman}) ", "{A}. ", "{a}) ", "({a}) ",
    "{cyrillic}) ", "{greek}) ", "Song {n}: ", "Option {n} – ", "Top {n}: ", "推荐{n}：",
)  # fmt: skip
TIGHT = ("{n}.", "{n})", "{n}- ")
# Numbers without a mark after them: the other rows show whether they number titles.
BARE = ("{n} ", "{n}\n", "#{n}\n", "- {n} ")
BULLETS = "- |* |+ |• |•|· |– |— |‣ |▪ |● |○ |◆ |➤ |✓ |✅ |→ |🎬 |📚 |・|- [ ] |* [x] |※ |❖ |-".split("|")
EMPHASIS = (
    "{}", "**{}**", "*{}*", "__{}__", "***{}***", "`{}`", '"{}"', "“{}”", "„{}“", "«{}»", "« {} »", "»{}«", "”{}”", "‹{}›",
    "《{}》", "「{}」", "『{}』", '**"{}"**', "**《{}》**", "**{}** – by somebody", '"{}" by somebody', "《{}》 - 某人",
    "某人《{}》", "[{}](https://example.org/x)",
)  # fmt: skip
SEPARATORS = ("\n", "\n\n", "  \n", "\r\n", ";\n", "<br>\n", "<br/>")
AROUND = (
    ("", ""),
    ("Here are some for you:\n\n", ""),
    ("Sure!\n", "\n\nI hope that you like these!"),
    ("以下是推荐：\n", "\n\n希望您喜欢这些作品。"),
)
sets_of_titles = st.lists(st.sampled_from(TITLES), min_size=3, max_size=9, unique=True)


def _rendered(titles: Sequence[str], mark: str, emphasis: str, separator: str, around: Sequence[str]) -> str:
    lines = [mark.format(**numbers(n)) + emphasis.format(title) for n, title in enumerate(titles, start=1)]
    return around[0] + separator.join(lines) + around[1]


def _holds(emphasis: str, title: str) -> bool:
    """Return whether a title can be written in these marks: one that ends with a mark of its own may not."""
    return not (set("'`\"[]") & set(title) and emphasis not in ("{}", "**{}**", "«{}»", "《{}》"))


@pytest.mark.parametrize("mark", MARKS)
@given(
    titles=sets_of_titles,
    emphasis=st.sampled_from(EMPHASIS),
    separator=st.sampled_from(SEPARATORS),
    data=st.data(),
)
@settings(max_examples=12)
def test_the_titles_come_back_whatever_the_numbering(
    mark: str, titles: list[str], emphasis: str, separator: str, data: st.DataObject
) -> None:
    titles = [title for title in titles if _holds(emphasis, title)]
    assume(len(titles) >= 3)
    around = data.draw(st.sampled_from(AROUND))
    reordered = data.draw(st.permutations(titles))
    for one in (titles, reordered):
        # The full stop may be that of "A; B; C.".
        assume(separator != ";\n" or not one[-1].endswith("."))
        found = find_list(_rendered(one, mark, emphasis, separator, around))
        assert list(found.items) == list(one)


@given(
    titles=sets_of_titles,
    emphasis=st.sampled_from(EMPHASIS),
    separator=st.sampled_from(SEPARATORS),
    data=st.data(),
)
@settings(max_examples=150)
def test_titles_behind_bullets(titles: list[str], emphasis: str, separator: str, data: st.DataObject) -> None:
    titles = [title for title in titles if _holds(emphasis, title)]
    assume(len(titles) >= 3)
    bullet = data.draw(st.sampled_from(BULLETS))
    around = data.draw(st.sampled_from(AROUND))
    if bullet == "-" and any((emphasis.format(title)[0]).isdigit() for title in titles):
        bullet = "- "
    found = find_list(_rendered(titles, bullet, emphasis, separator, around))
    assert list(found.items) == titles


@pytest.mark.parametrize("mark", [*MARKS, *BARE])
@given(
    titles=st.lists(st.sampled_from(TITLES), min_size=2, max_size=9, unique=True),
    around=st.sampled_from(AROUND),
)
@settings(max_examples=12)
def test_two_titles_and_titles_that_count_down(mark: str, titles: list[str], around: tuple[str, str]) -> None:
    if mark in BARE + TIGHT:
        # "3.1984" may be an amount, and the lines "1" and "10" titles.
        titles = [title for title in titles if not title[0].isdigit()]
        assume(len(titles) > 2)
    lines = [mark.format(**numbers(n)) + title for n, title in enumerate(titles, start=1)]
    for written in (lines, lines[::-1]):
        found = find_list(around[0] + "\n".join(written) + around[1])
        assert list(found.items) == titles
