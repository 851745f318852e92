"""The patterns by which a key is recognised anywhere in targets.yml.

A pattern belongs here where a service writes all its keys so, and nothing else is written so. Each is as long as it takes not to
match names of models; a new one comes with an example in tests/python/collector/test_key_forms.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

# Owner of the keys -> their form. All are matched without a letter, digit, - or _ before them.
PATTERNS: Mapping[str, str] = {
    # Names of models may go on with -sk-, hence a digit.
    "OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse": r"(?:sk|pk)-(?=[\w-]*\d)[\w-]{16}",
    "Stripe": r"(?:sk|pk|rk)_(?:live|test)_[0-9A-Za-z]{16}",
    "Google": r"AIza[\w-]{35}",
    "Google OAuth": r"ya29\.[\w-]{20}",
    "Hugging Face": r"(?:hf|api_org)_[0-9A-Za-z]{30}",
    "GitHub": r"gh[opsur]_[0-9A-Za-z]{36}|github_pat_\w{22}",
    "GitLab": r"gl(?:pat|dt|rt|cbt|ptt)-[\w-]{20}",
    "AWS": r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![\w-])",
    "Slack": r"xox[abeoprs]-[\w-]{10}|xapp-\d-[\w-]{10}",
    "Groq": r"gsk_[0-9A-Za-z]{32}",
    "xAI": r"xai-[0-9A-Za-z]{32}",
    "Replicate": r"r8_[0-9A-Za-z]{32}",
    "Perplexity": r"pplx-[0-9A-Za-z]{32}",
    "NVIDIA": r"nvapi-[\w-]{32}",
    "Databricks": r"dapi[0-9a-f]{32}",
    "npm": r"npm_[0-9A-Za-z]{36}",
    "PyPI": r"pypi-[\w-]{32}",
    "SendGrid": r"SG\.[\w-]{16,}\.[\w-]{16}",
    # Header and payload of a JSON Web Token are objects, and {" begins base64 with eyJ.
    "a JSON Web Token": r"eyJ[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]*",
    "a private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
}
_ANY = re.compile(rf"(?<![\w-])(?:{'|'.join(PATTERNS.values())})")


def holds_key(text: str) -> bool:
    """Return whether a text holds what looks like a key, as it is or percent-encoded."""
    return _ANY.search(text) is not None or ("%" in text and _ANY.search(unquote(text)) is not None)
