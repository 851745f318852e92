"""Sign a pack with a key of ssh or gpg, and verify the signature next to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from biasledger.verify import Verdict
from collector.errors import BiasledgerError, InputError

# Signatures of the same key for another purpose do not count.
NAMESPACE = "biasledger-evidence"
GPG = "gpg:"
_NAME = "signature"
_SECONDS = 300


def sign(path: Path, key: str) -> Path:
    """Write a detached signature next to a file.

    Args:
        path: the file.
        key: an ssh key's file, or "gpg:" and the name of a key.

    Returns:
        The signature: FILE.sig of ssh, FILE.asc of gpg.

    Raises:
        InputError: there is no such file.
        BiasledgerError: the program is not installed, or does not sign.
    """
    if key.startswith(GPG):
        signature = path.with_name(f"{path.name}.asc")
        command = ["gpg", "--yes", "--armor", "--detach-sign", "--output", os.fspath(signature)]
        _run([*command, "--local-user", key.removeprefix(GPG), "--", os.fspath(path)])
        return signature
    if not Path(key).is_file():
        raise InputError(f"There is no file {key}: --sign takes an ssh key's file, or gpg: and a key's name.")
    signature = path.with_name(f"{path.name}.sig")
    signature.unlink(missing_ok=True)
    _run(["ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, os.fspath(path)])
    return signature


def verify_signature(path: Path, signers: Path | None) -> list[Verdict]:
    """Check the signature next to a pack.

    Args:
        path: the pack.
        signers: a file of allowed signers, as ssh-keygen reads it; without it any ssh key may have signed.

    Returns:
        A verdict on each signature; without one none, or a broken one where signers are given.

    Raises:
        InputError: there is no such file of signers.
        BiasledgerError: ssh-keygen or gpg is not installed.
    """
    if signers is not None and not signers.is_file():
        raise InputError(f"There is no file {signers} of allowed signers.")
    of_ssh, of_gpg = (path.with_name(f"{path.name}.{ending}") for ending in ("sig", "asc"))
    verdicts = []
    if of_ssh.is_file():
        verdicts.append(_verify_ssh(path, of_ssh, signers))
    elif signers is not None:
        fault = f"There is no {of_ssh}: the pack is not signed, or its signature was taken away."
        verdicts.append(Verdict.broken(_NAME, fault))
    if of_gpg.is_file():
        done = _started(["gpg", "--verify", os.fspath(of_gpg), os.fspath(path)], b"")
        verdicts.append(
            _verdict(done, of_gpg, "signed by a key of gpg's keyring; gpg --verify names its owner.")
        )
    return verdicts


def _verify_ssh(path: Path, signature: Path, signers: Path | None) -> Verdict:
    at = ["-s", os.fspath(signature)]
    content = path.read_bytes()
    if signers is None:
        done = _started(["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, *at], content)
        key = done.stdout.decode(errors="replace").strip().rpartition(" ")[2]
        return _verdict(done, signature, f"signed by the key {key}; --signers FILE checks whose it is.")
    allowed = ["-f", os.fspath(signers)]
    found = _started(["ssh-keygen", "-Y", "find-principals", *allowed, *at], b"")
    names = found.stdout.decode(errors="replace").split("\n")[0].strip()
    if found.returncode != 0 or not names:
        return Verdict.broken(_NAME, f"The key of {signature} is none of those in {signers}.")
    # A line of allowed signers may list several names for one key.
    name = names.split(",")[0]
    done = _started(["ssh-keygen", "-Y", "verify", *allowed, "-I", name, "-n", NAMESPACE, *at], content)
    return _verdict(done, signature, f"signed by {names}.")


def _verdict(done: subprocess.CompletedProcess[bytes], signature: Path, note: str) -> Verdict:
    if done.returncode == 0:
        return Verdict(_NAME, "intact", notes=(note,))
    return Verdict.broken(_NAME, f"{signature} is no valid signature of this pack: {_last_line(done)}")


def _run(command: list[str]) -> None:
    # A key may ask for its passphrase on the terminal.
    done = _started(command, None)
    if done.returncode != 0:
        raise BiasledgerError(f"{command[0]} did not sign: {_last_line(done)}")


def _started(command: list[str], content: bytes | None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=content, capture_output=True, timeout=_SECONDS, check=False)
    except FileNotFoundError:
        raise BiasledgerError(f"{command[0]} is not installed; signatures need it.") from None
    except subprocess.TimeoutExpired:
        raise BiasledgerError(f"{command[0]} did not end within {_SECONDS} seconds.") from None


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else f"it ended with {done.returncode}."
