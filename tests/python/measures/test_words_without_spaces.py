"""Test the words of scripts that put no spaces between them: pairs of letters, with the terms that are taken out kept whole."""

from __future__ import annotations

import duckdb
import pytest

from tests.python.spark.test_tokens import macros_of

MACROS = macros_of("default")


def _words(text: str, *terms: str) -> str:
    phrases = f"list_transform($terms::varchar[], lambda term: {MACROS.phrase_of_term('term')})"
    sql = f"select {MACROS.tokens_of_words('t', 'phrases')} from (select $text as t, {phrases} as phrases)"
    with duckdb.connect() as connection:
        ((found,),) = connection.execute(sql, {"text": text, "terms": list(terms)}).fetchall()
    return " ".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我喜欢音乐。", "我喜 喜欢 欢音 音乐"),
        ("是。", "是"),
        ("不，不是！", "不 不是"),
        ("iPhone手机壳", "iphone 手机 机壳"),
        ("手-机 wi-fi", "手 机 wi-fi"),
        ("スーパー・カップ", "スー ーパ パー カッ ップ"),
        ("私は20歳です", "私は 20 歳で です"),
        ("ผู้หญิง", "ผู้ห หญิ ญิง"),
        ("ខ្មែរ", "ខ្មែរ"),
        ("မြန်မာ", "မြန် န်မာ"),
        # With spaces: as they are.
        ("한국어 문장", "한국어 문장"),
        ("Die Frau ist well-known.", "die frau ist well-known"),
        ("वह आएगी।", "वह आएगी"),
        ("an Asian woman", "an>asian asian woman"),
    ],
)
def test_pairs_of_letters(text: str, words: str) -> None:
    assert _words(text) == words


@pytest.mark.parametrize(
    ("text", "terms", "words"),
    [
        ("黑人女性很好", ("黑人女性",), "黑人女性 很好"),
        ("她说黑人女性和女性", ("黑人女性", "女性", "她"), "她 说 黑人女性 和 女性"),
        ("其他人和他", ("其他", "他"), "其他 人和 他"),
        ("阿依古丽很认真", ("阿依古丽", "古丽"), "阿依古丽 很认 认真"),
        ("สมชาย ใจดีมาก", ("สมชาย ใจดี", "สมชาย", "ใจดี"), "สมชาย_ใจดี มา าก"),
        ("a person of color, 女性", ("person of color", "女性"), "a>person_of_color person_of_color 女性"),
    ],
)
def test_terms_stay_whole_and_spoil_no_other(text: str, terms: tuple[str, ...], words: str) -> None:
    assert _words(text, *terms) == words
