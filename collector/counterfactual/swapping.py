"""Find the words of a prompt that state an attribute, and those of each group; or why that is not safe to say."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from collector.counterfactual import english, german, german_nouns, romance
from collector.counterfactual.texts import TITLES, NotSafeError, Prompt, Swap, in_case, without_accents
from collector.counterfactual.words import (
    NUMERAL,
    Words,
    first_names,
    name_of,
    names_thing,
    noun_forms,
    read_words,
)

_SPELT_OUT = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("ß"): "ss"}
# How a German name in -s marks possession: "Jens' Auto", but "Birgits Auto".
_POSSESSIVE = re.compile(r"(?<=[sxzß])['’](?=\s+\w)")
_AGE = re.compile(
    r"\(\s*[mwfhv]\s*[,/ ]?\s*\d\d\s*\)|\(\d\d\s*,?\s*[MFmfwhv]\)|[,(\[]\s*\d\d[MF]\b|\b\d\d[MF]\s*[,)\]]"
)
GENDER, RACE = "gender", "race"
_GRAMMARS: Mapping[str, ModuleType] = {
    "en": english,
    "de": german,
    **dict.fromkeys(("fr", "es", "pt"), romance),
}


@dataclass(slots=True)
class Reading:
    """The words found in a prompt.

    Attributes:
        swaps: attribute -> its swaps in the order of the text.
        not_safe: attribute -> why its words are not swapped.
        names_person: whether any word outside of quotations states who a person is.
    """

    swaps: dict[str, list[Swap]] = field(default_factory=dict)
    not_safe: dict[str, str] = field(default_factory=dict)
    names_person: bool = False

    def named(self, attribute: str) -> bool:
        """Return whether the prompt states an attribute."""
        return attribute in self.swaps or attribute in self.not_safe


def read_prompt(text: str, language: str) -> Reading:
    """Read the groups that a prompt states of persons."""
    words = read_words(language)
    prompt = Prompt.of(text, words.fixed)
    reading = Reading()
    found: dict[str, list[Swap]] = {}
    try:
        for swap in _GRAMMARS[language].swaps(prompt, words):
            attribute = next(name for name, groups in words.groups.items() if swap.group in groups)
            found.setdefault(attribute, []).append(swap)
    except NotSafeError as error:
        reading.not_safe[GENDER] = str(error)
    for named in words.persons.finditer(text):
        if not prompt.is_quoted[bisect_right(prompt.starts, named.start()) - 1]:
            reading.not_safe[GENDER] = f"“{named[0]}” has no form for another gender"
    names = [*first_names(prompt, words)]
    for index in names:
        for attribute, swap in _name_swaps(prompt, words, index):
            found.setdefault(attribute, []).append(swap)
    for attribute, listed in found.items():
        if attribute in reading.not_safe:
            continue
        ordered = _without_overlaps(sorted(listed, key=lambda one: one.start))
        reason = _problem(prompt, words, attribute, ordered)
        if reason is None:
            reading.swaps[attribute] = ordered
        else:
            reading.not_safe[attribute] = reason
    places = range(len(prompt.words))
    is_named = bool(reading.swaps or reading.not_safe or names)
    reading.names_person = is_named or any(_may_be_person(prompt, words, index) for index in places)
    return reading


def swapped(text: str, swaps: Sequence[Swap], group: str) -> str:
    """Return a prompt as it reads for a group."""
    parts, position = [], 0
    for swap in swaps:
        parts += [text[position : swap.start], swap.forms[group]]
        position = swap.end
    return "".join([*parts, text[position:]])


def _without_overlaps(swaps: Sequence[Swap]) -> list[Swap]:
    kept: list[Swap] = []
    for swap in swaps:
        if not kept or swap.start >= kept[-1].end:
            kept.append(swap)
    return kept


def _problem(prompt: Prompt, words: Words, attribute: str, swaps: Sequence[Swap]) -> str | None:
    """Return why swaps that were found are not safe together; None if they are."""
    if len(groups := {one.group for one in swaps}) > 1:
        listed = ", ".join(one for one in words.groups[attribute] if one in groups)
        return f"it names people of several groups ({listed})"
    if attribute == GENDER and (reason := _unclear_pronoun(prompt, words, swaps)) is not None:
        return reason
    if attribute == GENDER and (written := _both_forms(prompt, words, swaps)) is not None:
        return f"“{written}” states a gender, too"
    bound = words.bound.get(attribute, frozenset())
    if (word := _bound_word(prompt, words, bound)) is not None:
        return f"“{word}” may fit one group alone"
    about = words.rules["about_words"]
    word = next((one for one in prompt.lower if one in about), None)
    if attribute == GENDER and word is not None:
        return f"with “{word}”, the prompt may be about words and not about people"
    if all(swap.forms[group] == swap.forms[swap.group] for swap in swaps for group in swap.forms):
        return "the words are the same for all groups"
    if attribute == GENDER and (name := _unknown_name(prompt, words)) is not None:
        return f"“{name}” may be a name, which would stay"
    taken = {prompt.text[one.start : one.end] for one in swaps}
    for index, word in enumerate(prompt.words):
        if prompt.is_left[index] and word in words.names and word in taken:
            return f"“{word}” is in a quotation or address, too"
    return None


def _bound_word(prompt: Prompt, words: Words, bound: frozenset[str]) -> str | None:
    """Return a word or phrase of a prompt that fits one group alone; in German also as the start of a longer word."""
    text = f" {' '.join(prompt.lower)} "
    for one in bound:
        if "_" in one and f" {one.replace('_', ' ')} " in text:
            return one.replace("_", " ")
    starts = tuple(one for one in bound if len(one) > 5) if words.language == "de" else ()
    parts = [(one, part) for one in prompt.lower for part in {one, *one.split("-")}]
    return next((one for one, part in parts if part in bound or one.startswith(starts)), None)


def _both_forms(prompt: Prompt, words: Words, swaps: Sequence[Swap]) -> str | None:
    """Return a mark such as "(27M)", or a word that a swap would yield and that is there already: "the host and the hostess"."""
    if (age := _AGE.search(prompt.text)) is not None:
        return age[0]
    taken = [(one.start, one.end) for one in swaps]
    others = {form.lower() for one in swaps for form in one.forms.values()} - words.rules["pronouns"]
    for index, word in enumerate(prompt.lower):
        is_swapped = any(start <= prompt.starts[index] < end for start, end in taken)
        is_noun = len(word) > 3 if words.language != "de" else _states_gender(words, prompt.words[index])
        if word in others and is_noun and not is_swapped and not prompt.is_left[index]:
            return word
    return None


def _unclear_pronoun(prompt: Prompt, words: Words, swaps: Sequence[Swap]) -> str | None:
    """Return why a pronoun may speak of somebody or something that stays: a well-known person, an animal, a quoted speaker.

    A word that may be a name is kept, too, and pronouns refer to it if no other person was named before.
    """
    rules, pronouns = words.rules, words.rules["pronouns"]
    own = [(one, prompt.text[one.start : one.end].lower().rpartition("-")[2]) for one in swaps]
    person = min((one.start for one, form in own if form not in pronouns), default=len(prompt.text))
    known = [(one.start(), one[0]) for one in words.known.finditer(prompt.text)]
    places = [index for index in range(len(prompt.words)) if _stays(prompt, words, index)]
    unnamed = [(prompt.starts[index], prompt.words[index]) for index in places]
    if known and not any(one in rules["mine"] for one in prompt.lower):
        return f"it may be about “{known[0][1]}”"
    fixed = {
        prompt.lower[one] for one in places if prompt.is_left[one] and not prompt.is_quoted[one]
    } & pronouns
    if len(fixed) == 1:  # "her majesty", and not "his or her"
        return f"“{fixed.pop()}” in a fixed expression stays"
    for swap, form in own:
        if form in pronouns:
            others = [*known, *(one for one in unnamed if swap.start < person)]
            if (name := next((name for start, name in others if start < swap.start), None)) is not None:
                return f"“{prompt.text[swap.start : swap.end]}” may speak of “{name}”, which stays"
    return None


def _stays(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a pronoun may refer to this word, which is not swapped.

    It may be an animal, a thing with a name, an unknown name, or a person in a quotation or a fixed expression.
    """
    word, rules = prompt.words[index], words.rules
    if prompt.is_left[index]:
        parts = {word, *word.split("-")}
        return any(
            one in words.names or one.lower() in rules["pronouns"] or _states_gender(words, one)
            for one in parts
        )
    if name_of(words, word) in words.names and names_thing(prompt, words, index):
        return True
    if prompt.text[:1].islower() and word.islower() and word.capitalize() in words.names:
        return True
    if NUMERAL.fullmatch(prompt.written(index + 1)) or {word, word.lower()} & (
        rules["animals"] | rules["spoken_of"]
    ):
        return True
    if not word[:1].isupper() or word.isupper() or words.language == "de" or prompt.begins(index):
        return False
    before = prompt.at(index - 1)
    is_place = before in TITLES | rules["before_places"] or prompt.written(index - 1) in words.names
    is_known = word.lower() in rules["no_names"] | rules["capitals"] or word in words.names
    return not (is_place or is_known or _states_gender(words, word))


def _may_be_person(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a word that stays may name a person: "the book Anna wrote", "my uncle Sam"."""
    word, rules = prompt.words[index], words.rules
    if not prompt.is_left[index]:
        return word in words.names and prompt.at(index - 1) in rules["titled"] and not prompt.is_last(index)
    is_own = prompt.at(index - 1) in rules["mine"] or prompt.at(index - 2) in rules["mine"]
    return is_own and not prompt.is_quoted[index] and _states_gender(words, word)


def _states_gender(words: Words, word: str) -> bool:
    """Return whether a word is a noun or title for a woman or a man."""
    if words.language == "de":
        return german_nouns.is_noun(words, word)
    if words.language == "en":
        return any(one.attribute == GENDER for one in words.entries.get(word.lower(), ()))
    return word.lower() in noun_forms(words)


def _unknown_name(prompt: Prompt, words: Words) -> str | None:
    """Return a word that looks like an unlisted first name, judged by the words before and after it."""
    rules = words.rules
    for index, word in enumerate(prompt.words):
        is_name = word[:1].isupper() and word[1:].islower() and not prompt.is_left[index]
        before = prompt.at(index - 1)
        is_family = before in TITLES or prompt.written(index - 1) in words.names
        stays = before in rules["articles"] if word in words.names else not is_family
        is_known = word in words.names or word in rules["maybe_names"]
        if word in rules["words_or_names"]:
            stays, is_known = True, not prompt.begins(index) or prompt.at(index + 1) in rules["speaks"]
        if stays and is_known and not prompt.is_left[index]:
            return word
        if (
            not is_name
            or word in words.names
            or word.lower() in words.entries
            or word.lower() in rules["no_names"]
        ):
            continue
        after = prompt.at(index + 1)
        may_be_name = words.language != "de" or prompt.at(index - 2) in ("liebe", "lieber")
        is_other = prompt.between(index) != " " or prompt.lower[index] in rules["capitals"]
        if before in rules["kin"] and may_be_name and not is_other:
            return word  # "Aunt Zelda"
        is_listed = prompt.written(index - 1) in words.names and prompt.between(index) == ", "
        if is_listed and prompt.written(index + 1) in words.names and prompt.between(index + 1) == ", ":
            return word  # "Zoe, Xaverius, Mia"
        if before in rules["names_follow"] and not prompt.between(index).strip():
            return word
        if (
            prompt.begins(index)
            and words.language != "de"
            and after in rules["speaks"]
            and not prompt.is_last(index)
        ):
            return word
    return None


def _name_swaps(prompt: Prompt, words: Words, index: int) -> Iterator[tuple[str, Swap]]:
    """Yield the swaps of a first name: for the other gender, and for each race where its list has it."""
    name = name_of(words, prompt.words[index])
    is_possessive = name.lower() != prompt.lower[index]
    gender = words.names[name]
    genders = words.groups[GENDER]
    start, end = prompt.starts[index], prompt.ends[index]
    others = {
        one: name if one == gender else _counterpart(words, name, gender, one, prompt) for one in genders
    }
    if words.language == "de" and (mark := _POSSESSIVE.match(prompt.text, end)) is not None:
        is_possessive, end = True, mark.end()
    if is_possessive:
        others = {
            one: f"{form}'" if form.endswith(tuple("sxzß")) else f"{form}s" for one, form in others.items()
        }
        others[gender] = prompt.text[start:end]
    others = {one: in_case(prompt.words[index], form) for one, form in others.items()}
    yield GENDER, _named(prompt, words, Swap(start, end, others, gender))
    race = next((one for one, of in words.by_race.items() if name in of.get(gender, ())), None)
    if race is not None:
        forms = {
            one: name if one == race else _chosen(of[gender], name, prompt)
            for one, of in words.by_race.items()
        }
        yield RACE, _named(prompt, words, Swap(start, end, forms, race))


def _named(prompt: Prompt, words: Words, swap: Swap) -> Swap:
    """Return the swap of a name with what changes around it: what shows possession, or a shortened word before it."""
    if words.language == "en":
        return english.with_possessive(prompt, swap)
    return swap if words.language == "de" else romance.elided(prompt, words, swap)


def _counterpart(words: Words, name: str, own: str, other: str, prompt: Prompt) -> str:
    """Return a name of another gender and, as far as the lists have it, the same origin."""
    lists = [*words.by_race.values(), *words.by_origin.values()]
    same = next((one[other] for one in lists if name in one.get(own, ())), None)
    return _chosen(same or words.names_of[other], name, prompt)


def _chosen(names: Sequence[str], name: str, prompt: Prompt) -> str:
    """Return one of some names, the same for a name in every prompt that does not hold it already."""
    first = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % len(names)
    turned = [*names[first:], *names[:first]]
    return next((one for one in turned if one not in prompt.words), turned[0])


def slot_name(form: str) -> str:
    """Return a form as the name of a slot: letters of ASCII, digits and _."""
    plain = form.translate(_SPELT_OUT)
    plain = re.sub(r"[^A-Za-z0-9]+", "_", without_accents(plain)).strip("_")
    return plain if plain[:1].isalpha() else f"w_{plain}"
