"""Test signatures of packs: who signed which bytes, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from biasledger.packing.signing import sign, verify_signature
from collector.errors import InputError

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def key_of(folder: Path, name: str) -> Path:
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
    return path


def test_a_signature_says_who_signed_which_bytes(tmp_path: Path) -> None:
    pack, key, other = tmp_path / "pack.zip", key_of(tmp_path, "key"), key_of(tmp_path, "other")
    pack.write_bytes(b"figures")
    signers = tmp_path / "signers"
    signers.write_text(f"auditor@example.org {key.with_suffix('.pub').read_text()}")
    (missing,) = verify_signature(pack, signers)
    assert missing.state == "broken"
    assert verify_signature(pack, None) == []
    assert sign(pack, str(key)).name == "pack.zip.sig"
    (known,) = verify_signature(pack, signers)
    assert (known.state, known.notes) == ("intact", ("signed by auditor@example.org.",))
    (unnamed,) = verify_signature(pack, None)
    assert unnamed.state == "intact"
    assert "SHA256:" in unnamed.notes[0]
    sign(pack, str(other))
    (stranger,) = verify_signature(pack, signers)
    assert stranger.state == "broken"
    assert "is none of those" in (stranger.fault or "")
    sign(pack, str(key))
    pack.write_bytes(b"other figures")
    assert [verify_signature(pack, one)[0].state for one in (signers, None)] == ["broken", "broken"]


@pytest.mark.skipif(shutil.which("gpg") is None, reason="needs gpg")
def test_gpg_signs_and_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, pack = tmp_path / "keys", tmp_path / "pack.zip"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    made = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "auditor@example.org"]
    subprocess.run([*made, "ed25519", "sign", "never"], check=True, capture_output=True)
    pack.write_bytes(b"figures")
    try:
        assert sign(pack, "gpg:auditor@example.org").name == "pack.zip.asc"
        assert [one.state for one in verify_signature(pack, None)] == ["intact"]
        pack.write_bytes(b"other figures")
        assert [one.state for one in verify_signature(pack, None)] == ["broken"]
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=True)


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*nowhere"):
        sign(tmp_path / "pack.zip", str(tmp_path / "nowhere"))
