"""Test the patterns of API keys: an example of each is refused everywhere, and names are not."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from collector.errors import InputError
from collector.targets import load_target
from collector.targets.key_forms import PATTERNS, holds_key

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890"}, "a signature")
)
EXAMPLES = {
    "OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse": f"sk-proj-{LETTERS}",
    "Stripe": f"sk_live_{LETTERS}",
    "Google": f"AIza{LETTERS[:35]}",
    "Google OAuth": f"ya29.{LETTERS}",
    "Hugging Face": f"hf_{LETTERS}",
    "GitHub": f"ghp_{LETTERS}",
    "GitLab": f"glpat-{LETTERS[:20]}",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "Slack": f"xoxb-{LETTERS}",
    "Groq": f"gsk_{LETTERS}",
    "xAI": f"xai-{LETTERS}",
    "Replicate": f"r8_{LETTERS}",
    "Perplexity": f"pplx-{LETTERS}",
    "NVIDIA": f"nvapi-{LETTERS}",
    "Databricks": f"dapi{'0a1b2c3d' * 4}",
    "npm": f"npm_{LETTERS}",
    "PyPI": f"pypi-{LETTERS}",
    "SendGrid": f"SG.{LETTERS[:22]}.{LETTERS}",
    "a JSON Web Token": TOKEN,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
}
PLACES = {
    "header": "headers: {X-Trace: 'KEY'}",
    "header after a word": "headers: {X-Trace: 'Bearer KEY'}",
    "name of a header": "headers: {'KEY': x}",
    "address": "url: 'https://host/v1?trace=KEY&b=1'",
    "path": "url: 'https://host/KEY/v1'",
    "body": """body: '{"q": "{prompt}", "trace": "KEY"}'""",
    "form": "body: 'q={prompt}&trace=KEY'",
}


def problem(tmp_path: Path, line: str) -> str:
    path = tmp_path / "targets.yml"
    url = "" if line.startswith("url") else "    url: https://host\n"
    path.write_text(f"targets:\n  mine:\n    kind: http\n{url}    {line}\n")
    with pytest.raises(InputError) as caught:
        load_target(path, "mine")
    return str(caught.value)


def test_each_pattern_has_an_example() -> None:
    assert set(EXAMPLES) == set(PATTERNS)
    for whose, example in EXAMPLES.items():
        assert re.match(PATTERNS[whose], example), whose


@pytest.mark.parametrize(
    ("whose", "place"),
    [
        *((whose, place) for whose in EXAMPLES for place in ("header", "address")),
        *(
            (whose, place)
            for whose in ("Google", "a JSON Web Token")
            for place in PLACES
            if place not in ("header", "address")
        ),
    ],
)
def test_every_key_is_refused_wherever_it_is_and_not_shown(tmp_path: Path, whose: str, place: str) -> None:
    key = EXAMPLES[whose]
    message = problem(tmp_path, PLACES[place].replace("KEY", quote(key) if place == "address" else key))
    assert "looks like a secret" in message
    assert key not in message


def test_percent_encoded_byte_by_byte(tmp_path: Path) -> None:
    coded = "".join(f"%{byte:02x}" for byte in EXAMPLES["AWS"].encode())
    assert "looks like a secret" in problem(tmp_path, PLACES["address"].replace("KEY", coded))


@pytest.mark.parametrize(
    "name",
    [
        "llama-3-sk-instruct-8b-2026-05",
        "meta-llama/Llama-3.1-70B-Instruct",
        "claude-sonnet-4-5-20250929",
        "hf_model",
        "ghp_",
        "AKIA",
        "anthropic.claude-v2:1",
        "xai-grok",
        "gpt-4o-mini-2024-07-18",
        "eyJ",
        "projects/my-project/locations/europe-west4/endpoints/1234567890123456789",
        "ft:gpt-4o-mini-2024-07-18:my-org:custom-suffix:AbCdEfGh",
    ],
)
def test_names_are_no_keys(name: str) -> None:
    assert not holds_key(name)
