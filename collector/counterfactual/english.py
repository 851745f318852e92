"""Swap the words of an English prompt for those of another group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from collector.counterfactual.texts import Entry, NotSafeError, Prompt, Swap, in_case
from collector.counterfactual.words import Words
from collector.spec.slots import indefinite_article

_POSSESSIVE = re.compile(r"['’](s\b)?", re.IGNORECASE)
_PLURAL = tuple("ies boys girls moms dads wives husbands sons sisters brothers aunts".split())


def swaps(prompt: Prompt, words: Words) -> Iterator[Swap]:
    """Yield the swaps of the pronouns, nouns, titles and adjectives of a prompt; names are found elsewhere.

    Raises:
        NotSafeError: a word could be several forms.
    """
    index = 0
    while index < len(prompt.words):
        taken = 1
        if not prompt.is_left[index]:
            pronoun = _pronoun(prompt, words, index)
            if pronoun is not None:
                yield _swap(prompt, index, index, *pronoun)
            else:
                for length in (2, 1):
                    found = [*_entries(prompt, words, index, length)]
                    for entry in found:
                        yield _swap(prompt, index, index + length - 1, entry.forms, entry.group)
                    if found:
                        taken = length
                        break
        index += taken


def _pronoun(prompt: Prompt, words: Words, index: int) -> tuple[dict[str, str], str] | None:
    word, followers = prompt.at(index), words.rules["followers"]
    is_testament = prompt.at(index + 1) == "will" and prompt.is_last(index + 1)
    is_alone = prompt.is_last(index) or (prompt.at(index + 1) in followers and not is_testament)
    is_of = prompt.at(index - 1) == "of" and prompt.at(index - 3) in ("a", "an", "that", "this", "some")
    if word == "his" and is_of:
        # "a friend of his called", and not "a member of his team".
        after = prompt.at(index + 1)
        is_alone = is_alone or after.endswith("ed") or after in words.rules["speaks"]
    if word == "him":
        return {"man": "him", "woman": "her"}, "man"
    if word == "his":
        return {"man": "his", "woman": "hers" if is_alone else "her"}, "man"
    if word == "hers":
        return {"man": "his", "woman": "hers"}, "woman"
    if word == "her":
        return {"man": _of_her(prompt, words, index, is_alone), "woman": "her"}, "woman"
    return None


def _of_her(prompt: Prompt, words: Words, index: int, is_alone: bool) -> str:
    """Return him or his, depending on the words around "her"."""
    rules, before, after = words.rules, prompt.at(index - 1), prompt.at(index + 1)
    second = "" if prompt.is_last(index + 1) else prompt.at(index + 2)
    unsure = NotSafeError(f"“her {after}” may be him or his")
    if after == "and" and second in ("my", "your", "our", "their") and prompt.begins(index):
        return "his"
    if is_alone or before in ("let", "lets", "letting") or _is_object(prompt, words, index):
        return "him"
    if after in rules["home"]:
        raise unsure
    if after.endswith("ly") and after not in rules["adjectives_in_ly"]:
        if prompt.is_last(index + 1) or second in rules["followers"]:
            return "him"
        raise unsure
    if before in rules["finds"] and prompt.is_last(index + 1):
        if after in rules["feelings"] or after.endswith("ing"):
            return "him"
        raise unsure
    if before in rules["gives"] and after in rules["numbers"]:
        return "him"
    if before in rules["owes"] and after not in rules["persons"]:
        raise unsure
    if before in rules["gives"] and after not in rules["persons"]:
        is_plural = after.endswith("s") and not after.endswith("ss")
        if (after in rules["given"] and second != "back") or (is_plural and after not in rules["given"]):
            raise NotSafeError(f"“{before} her {after}” may be him or his")
    return _of_her_after_verb(prompt, words, index)


def _of_her_after_verb(prompt: Prompt, words: Words, index: int) -> str:
    """Return him after a verb of seeing or making, before what she does or feels; else his."""
    rules, before, after = words.rules, prompt.at(index - 1), prompt.at(index + 1)
    if before in rules["causative"]:
        if after in rules["deeds"]:
            raise NotSafeError(f"“her {after}” may be him or his")
        if after in rules["base_verbs"] or after.endswith("ing"):
            return "him"
    return "him" if before in rules["makes"] and after in rules["feelings"] else "his"


def _is_object(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a time, a number of times or a wish follows "her": "fired her last week", "wish her luck".

    Raises:
        NotSafeError: it may also be hers: "I miss her last week of work".
    """
    rules, before, after = words.rules, prompt.at(index - 1), prompt.at(index + 1)
    second = "" if prompt.is_last(index + 1) else prompt.at(index + 2)
    if prompt.begins(index) or before in rules["prepositions"]:
        return False
    if before in rules["wishes"] and after in rules["wished"]:
        end = index + (2 if after in ("good", "happy", "merry", "all") else 1)
        ends, is_object = rules["prepositions"] | rules["joins"] | {"best"}, True
    elif after in ("last", "next") and second in rules["times"]:
        end, ends, is_object = index + 2, rules["joins"], before in rules["meets"]
    elif second == "times" and after in rules["numbers"]:
        end, ends, is_object = index + 2, rules["followers"], before in rules["meets"]
    else:
        return False
    if is_object and (prompt.is_last(end) or prompt.at(end + 1) in ends):
        return True
    raise NotSafeError(f"“her {after}” may be him or his")


def _entries(prompt: Prompt, words: Words, index: int, length: int) -> Iterator[Entry]:
    """Yield what so many words from a place on state about a person."""
    if index + length > len(prompt.words) or any(prompt.is_left[index : index + length]):
        return
    if any(prompt.between(one).strip(" '’") for one in range(index + 1, index + length)):
        return
    last = index + length - 1
    word = " ".join(prompt.lower[index : index + length])
    found = words.entries.get(word, ())
    if not found and length == 1 and word.endswith(("woman", "women")):
        man = word[:-5] + word[-3:]  # "councilwoman"
        found = (Entry("gender", "woman", {"man": man, "woman": word}, "forms"),)
    for entry in found:
        if entry.kind == "forms":
            if prompt.at(index) in words.rules["honours"] and _is_honour(prompt, index):
                raise NotSafeError(f"“{prompt.words[index]} {prompt.words[index + 1]}” is a title of honour")
            is_person = not _is_filler(prompt, words, index) and not _is_title_case(prompt, words, index)
        elif entry.kind == "titles":
            is_person = _is_title(prompt, index)
        elif entry.kind == "nouns":
            is_person = _is_noun(prompt, words, index, last)
        else:
            is_person = _is_adjective(prompt, words, index, last)
        if is_person:
            yield entry
            return


def _is_filler(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a word is no certain person: "Man, …", "Hey man", "He who …"."""
    word, rules = prompt.at(index), words.rules
    if word in ("he", "she"):
        return prompt.at(index + 1) == "who"
    if word in ("king", "queen"):
        return any(one in rules["games"] for one in prompt.lower)
    if word in rules["relatives"] and prompt.at(index + 1) in rules["things_related"]:
        return True
    if word == "man" and prompt.at(index - 1) in rules["before_verbs"]:
        return True
    if word in ("male", "female"):
        near = ({prompt.at(index + 1), prompt.at(index + 2)} & rules["persons"]) - {"male", "female"}
        return not (near or prompt.at(index - 1) in rules["copulas"] or prompt.at(index - 1).endswith("old"))
    if prompt.at(index) not in ("man", "boy", "girl", "brother", "sister"):
        return False
    is_alone = prompt.begins(index) and prompt.follows(index) in (",", "!")
    is_cry = prompt.at(index - 1) in ("oh", "yo", "thanks") and prompt.is_last(index)
    return is_alone or is_cry or prompt.at(index - 1) == "hey"


def _is_title_case(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a capital inside a sentence makes a word part of a name: "the band Queen", and not "ask Mom", "My Wife"."""
    word, before, lower = prompt.words[index], prompt.written(index - 1), prompt.at(index)
    if not word[0].isupper() or word.isupper() or prompt.begins(index) or lower in words.rules["kin"]:
        return False
    return before[:1].islower() or prompt.begins(index - 1) or before.lower() in words.rules["articles"]


def _is_honour(prompt: Prompt, index: int) -> bool:
    """Return whether a name follows a word such as "Queen"."""
    is_written = prompt.words[index][0].isupper() and prompt.written(index + 1)[:1].isupper()
    return is_written and prompt.between(index + 1) == " "


def _is_title(prompt: Prompt, index: int) -> bool:
    word, after = prompt.at(index), prompt.written(index + 1)
    if word in ("sir", "madam"):
        if prompt.words[index][0].isupper() and after[:1].isupper() and not prompt.is_last(index):
            raise NotSafeError(f"“{prompt.words[index]} {after}” is a title of honour")
        return prompt.is_last(index)
    if after == "and" and prompt.at(index + 2) in ("mr", "mrs", "ms"):
        raise NotSafeError("it names people of several groups (man, woman)")
    is_written = prompt.words[index][0].isupper() and after[:1].isupper()
    return is_written and prompt.between(index + 1).strip() in ("", ".")


def _is_noun(prompt: Prompt, words: Words, index: int, last: int) -> bool:
    """Return whether a word names people and does not describe the next word."""
    if not prompt.words[index][0].isupper() and prompt.at(index) != prompt.at(last):
        return False
    follows = prompt.is_last(last) or prompt.at(last + 1) in words.rules["followers"]
    is_plural = prompt.at(last).endswith("s")
    return is_plural or (follows and prompt.at(index - 1) not in words.rules["copulas"])


def _is_adjective(prompt: Prompt, words: Words, index: int, last: int) -> bool:
    """Return whether an adjective is about a person: a noun for people follows, or a person is said to be so."""
    rules = words.rules
    if prompt.at(last) not in ("black", "white") and not prompt.words[index][0].isupper():
        return False
    if not prompt.is_last(last):
        near = [last + 1, *([] if prompt.is_last(last + 1) else [last + 2])]
        if any(prompt.at(one) in rules["persons"] for one in near):
            return prompt.at(last + 1) not in rules["followers"]
    ends = prompt.is_last(last) or prompt.at(last + 1) in rules["followers"]
    return ends and prompt.at(index - 1) in rules["copulas"] and prompt.at(index - 2) in rules["subjects"]


def _swap(prompt: Prompt, first: int, last: int, forms: Mapping[str, str], group: str) -> Swap:
    """Return a swap with the article before it and the possessive after it, where they differ by group."""
    start, end = prompt.starts[first], prompt.ends[last]
    written = {one: in_case(prompt.text[start:end], form) for one, form in forms.items()}
    written[group] = prompt.text[start:end]
    swap = with_possessive(prompt, Swap(start, end, written, group))
    written, end = dict(swap.forms), swap.end
    article = prompt.at(first - 1)
    if article in ("a", "an") and prompt.between(first).isspace():
        articles = {one: indefinite_article(form) for one, form in written.items()}
        if len(set(articles.values())) > 1:
            begin = prompt.starts[first - 1]
            space = prompt.text[begin:start]
            written = {
                one: f"{in_case(space[0], articles[one])} {form}" if one != group else space + form
                for one, form in written.items()
            }
            start = begin
    return Swap(start, end, written, group)


def with_possessive(prompt: Prompt, swap: Swap) -> Swap:
    """Return a swap with the apostrophe after it, if that of another form differs: "James' car", "the ladies' team"."""
    possessive = _POSSESSIVE.match(prompt.text, swap.end)
    own = swap.forms[swap.group]
    if possessive is None or not (possessive[1] or own.lower().endswith("s")):
        return swap
    apostrophe = possessive[0][0]
    marks = {
        one: apostrophe if form.lower().endswith(_PLURAL) else f"{apostrophe}s"
        for one, form in swap.forms.items()
        if one != swap.group
    }
    if set(marks.values()) == {possessive[0]}:
        return swap
    forms = {one: swap.forms[one] + mark for one, mark in marks.items()}
    return Swap(swap.start, possessive.end(), {**forms, swap.group: own + possessive[0]}, swap.group)
