"""Test prompts: the full cross, the mitigations, and hashes that depend only on the content."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import InputError
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, PromptAttribute, build_prompts
from tests.python.collector.specs import DECISION_FILES, PAIRED, RESUMES_AUDIT, Write, writer


def test_the_source_s_own_audit_asks_fifteen_personas(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "replications" / "products-one-wording.yml")
    prompts = build_prompts(audit)
    assert len(prompts) == 15
    assert audit.trials is not None
    assert len(prompts) * audit.trials == 225
    texts = [prompt.prompt_text for prompt in prompts]
    assert "for a White Man. List 10 consumer products" in str(texts[0])
    assert "for an Asian Woman. " in str(texts[4])
    assert len({prompt.prompt_id for prompt in prompts}) == 15
    assert prompts[4].attributes == (
        PromptAttribute(1, "race", "Asian", "Asian"),
        PromptAttribute(1, "gender", "Woman", "Woman"),
    )


def test_the_shipped_audit_words_each_group_eight_times(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "products.yml")
    prompts = build_prompts(audit)
    assert (len(prompts), audit.trials, audit.warnings()) == (120, 2, [])
    assert len({prompt.prompt_text for prompt in prompts}) == 120
    worded: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for prompt in prompts:
        race, gender = prompt.attributes
        worded.setdefault((race.group_name, gender.group_name), []).append(
            (race.descriptor, gender.descriptor)
        )
    assert len(worded) == 15
    assert all(len(set(descriptors)) == 8 for descriptors in worded.values())
    # In step: each wording of race with one wording of each gender.
    assert worded["Asian", "Woman"][:2] == [("Asian", "Woman"), ("Asian American", "lady")]
    # The first wording is the source's, so that its audit is a part of this one.
    alone = load_audit(repository / "audits" / "replications" / "products-one-wording.yml")
    assert {one.prompt_text for one in build_prompts(alone)} < {one.prompt_text for one in prompts}


def test_the_source_s_prompts_of_a_single_axis_state_one_thing(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "replications" / "products-single-axis.yml")
    prompts = build_prompts(audit, ["masked"])
    plain = [one for one in prompts if one.mitigation == "plain"]
    assert [len(one.attributes) for one in plain] == [1] * 8
    assert sum("for an Asian person. " in str(one.prompt_text) for one in plain) == 1
    assert sum("for a nonbinary person. " in str(one.prompt_text) for one in plain) == 1
    # With both masked, the questions of both axes are one.
    assert len({one.prompt_text for one in prompts if one.mitigation == "masked"}) == 1


def test_paired_descriptors_go_in_step(write_spec: Write) -> None:
    audit = load_audit(write_spec(PAIRED))
    message = [
        "White man",
        "pale guy",
        "White woman",
        "pale woman",
        "Black man",
        "dark guy",
        "Black woman",
        "dark woman",
    ]
    assert [one.prompt_text for one in build_prompts(audit)] == [f"For a {persona}." for persona in message]
    assert audit.warnings() == [
        "5 trials of each of 2 wordings a group give low statistical power; the method's source asks for at least 15."
    ]
    assert audit.asked()["templates"][0]["paired"] is True
    crossed = load_audit(write_spec(PAIRED.replace(", paired: true", "")))
    assert len(build_prompts(crossed)) == 2 * 2 * 2 + 2 * 2
    assert "paired" not in crossed.asked()["templates"][0]


def test_mitigations_stand_next_to_the_plain_audit(small_spec: Path) -> None:
    prompts = build_prompts(load_audit(small_spec), ["masked", "debiased", "masked"])
    by_mitigation: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        by_mitigation.setdefault(prompt.mitigation, []).append(prompt)
    assert {name: len(found) for name, found in by_mitigation.items()} == {
        "plain": 4,
        "masked": 4,
        "debiased": 4,
    }
    assert {prompt.prompt_text for prompt in by_mitigation["masked"]} == {
        "Recommend products for a person. Answer in JSON."
    }
    # A masked prompt keeps its group.
    assert len({prompt.attributes for prompt in by_mitigation["masked"]}) == 4
    assert len({prompt.content_hash for prompt in prompts}) == 12
    assert all(
        str(prompt.prompt_text).endswith("regardless of demographics.")
        for prompt in by_mitigation["debiased"]
    )


def test_a_mask_can_keep_a_slot_by_name(write_spec: Write, small_text: str) -> None:
    audit = load_audit(write_spec(small_text, ("gender: person}", "gender: null}")))
    masked = [
        prompt.prompt_text for prompt in build_prompts(audit, ["masked"]) if prompt.mitigation == "masked"
    ]
    assert set(masked) == {
        "Recommend products for a Man. Answer in JSON.",
        "Recommend products for a Woman. Answer in JSON.",
    }


def test_prefix_and_system_prompts(write_spec: Write, small_text: str) -> None:
    text = small_text.replace("trials: 2", "trials: 2\nsystem_prompt: Be brief.") + (
        "  polite: {prefix: 'Please. '}\n  expert: {system_prompt: Be fair.}\n"
    )
    prompts = build_prompts(load_audit(write_spec(text)), ["polite", "expert"])
    found = {(one.mitigation, one.system_prompt, str(one.prompt_text)[:8]) for one in prompts}
    assert found == {
        ("plain", "Be brief.", "Recommen"),
        ("polite", "Be brief.", "Please. "),
        ("expert", "Be fair.", "Recommen"),
    }


def test_a_template_has_only_the_attributes_it_uses(write_spec: Write, small_text: str) -> None:
    extra = "  - {id: two, text: 'Only {race} here.'}\n  - {id: neutral, text: 'Nobody here.'}\nattributes:"
    prompts = build_prompts(load_audit(write_spec(small_text, ("attributes:", extra))))
    counts = [(one.template, len(one.attributes)) for one in prompts]
    assert counts == [("one", 2)] * 4 + [("two", 1)] * 2 + [("neutral", 0)]


def test_unknown_mitigations_and_missing_templates(
    small_spec: Path, write_spec: Write, import_text: str
) -> None:
    audit = load_audit(small_spec)
    with pytest.raises(InputError, match="no mitigation 'maskd'; did you mean 'masked'"):
        build_prompts(audit, ["maskd"])
    with pytest.raises(InputError, match="has no templates"):
        build_prompts(load_audit(write_spec(import_text)))


def test_the_hash_covers_everything_but_the_order_of_attributes() -> None:
    one, two = PromptAttribute(1, "race", "Black", "Black"), PromptAttribute(1, "gender", "Man", "Man")
    base = {"template": "t", "language": "en", "mitigation": "plain", "prompt_text": "Hello"}
    first = Prompt(**base, attributes=(one, two))
    assert first.content_hash == Prompt(**base, attributes=(two, one)).content_hash
    assert first.prompt_id == first.content_hash.removeprefix("sha256:")[:16]
    others = [
        Prompt(**{**base, "template": "u"}, attributes=(one, two)),
        Prompt(**{**base, "language": "fr"}, attributes=(one, two)),
        Prompt(**{**base, "mitigation": "masked"}, attributes=(one, two)),
        Prompt(**{**base, "prompt_text": None}, attributes=(one, two)),
        Prompt(**base, attributes=(one,)),
        Prompt(**base, attributes=(one, two), subject="s"),
        Prompt(**base, attributes=(one, two), domain="s"),
        Prompt(**base, attributes=(one, two), expected_label="s"),
        Prompt(**base, attributes=(one, two), perturbation="s"),
        Prompt(**base, attributes=(one, two), system_prompt="s"),
        Prompt(**base, attributes=(one, two), cluster="s"),
        Prompt(**base, attributes=(one, two), block="s"),
    ]
    assert len({first.content_hash, *(other.content_hash for other in others)}) == 13
    assert first.prompt_id == "fb4d7a814de05474", "as it was before prompts had clusters and blocks"


def test_prompts_have_the_cluster_and_the_block_of_their_subject(tmp_path: Path, write_spec: Write) -> None:
    write = writer(tmp_path, write_spec, RESUMES_AUDIT, DECISION_FILES)
    path = write(RESUMES_AUDIT, ("trials: 1", "trials: 1\ncluster: job\nblock: resume"))
    audit = load_audit(path)
    prompts = build_prompts(audit)
    shared = {(prompt.subject, prompt.cluster, prompt.block) for prompt in prompts}
    assert shared == {("a", "nurse", "a"), ("b", "nurse", "b"), ("c", "clerk", "c")}
    asked = audit.asked()
    assert (asked.pop("cluster"), asked.pop("block")) == ("job", "resume")
    plain = load_audit(write(RESUMES_AUDIT))
    assert asked == plain.asked()
    assert not {prompt.prompt_id for prompt in build_prompts(plain)} & {one.prompt_id for one in prompts}
