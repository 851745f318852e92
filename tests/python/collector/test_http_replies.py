"""Test replies that no HTTP library would send, byte by byte from a real socket."""

from __future__ import annotations

import gzip
import io
import socket
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from collector.errors import TargetError
from collector.redaction import Redactor
from collector.targets.http import session as http_session
from collector.targets.http.session import HttpReply, HttpSession

Serve = Callable[..., str]
SECONDS = 0.4
LIMIT = 60.0


def ask(address: str, seconds: float = 5.0) -> HttpReply:
    return HttpSession("mine", Redactor(), timeout_seconds=seconds).send("GET", address, headers={})


def again_and_again(line: bytes) -> Callable[[socket.socket], None]:
    """Send the same bytes until the client disconnects."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n" if line.startswith(b"X") else b"")
        while True:
            connection.sendall(line)
            time.sleep(SECONDS / 8)

    return talk


@pytest.mark.parametrize("line", [b"X-More: to come\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_a_reply_that_never_gets_to_its_body_times_out(serve: Serve, line: bytes) -> None:
    address = serve(again_and_again(line))
    with pytest.raises(TargetError, match=r"mine did not answer within 0.4 s\.") as caught:
        ask(address, SECONDS)
    assert caught.value.retryable


def test_a_connection_serves_again_after_a_slow_reply(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time left for one question is no limit of the next."""
    n_connections, now = 0, 0.0
    monkeypatch.setattr(http_session, "time", SimpleNamespace(perf_counter=lambda: now))

    def talk(connection: socket.socket) -> None:
        nonlocal n_connections, now
        n_connections += 1
        for pause in (0.6 * LIMIT, 0.7 * LIMIT):
            now += pause
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            connection.recv(1 << 16)

    address = serve(talk)
    session = HttpSession("mine", Redactor(), timeout_seconds=LIMIT)
    assert [session.send("GET", address, headers={}).text for _ in range(2)] == ["ok", "ok"]
    assert n_connections == 1


ENGLISH, FRENCH = '{"a": "tea"}', '{"a": "café, thé"}'


@pytest.mark.parametrize(
    ("content", "content_type", "text"),
    [
        pytest.param(FRENCH.encode("utf-8-sig"), "application/json", FRENCH, id="utf-8 with BOM"),
        pytest.param(FRENCH.encode("latin-1"), "text/plain; charset=ISO-8859-1", FRENCH, id="latin-1"),
        pytest.param(
            FRENCH.encode("cp1252"), 'application/json; charset="windows-1252"', FRENCH, id="windows-1252"
        ),
        pytest.param("紅茶".encode("shift_jis"), "text/plain;charset=Shift_JIS", "紅茶", id="shift_jis"),
        pytest.param(ENGLISH.encode("utf-16-le"), "application/json; charset=utf-16le", ENGLISH, id="utf-16"),
        # Many servers name an encoding that they do not use.
        pytest.param(FRENCH.encode(), "text/html; charset=iso-8859-1", FRENCH, id="utf-8 under another name"),
        pytest.param(b"caf\xe9", "text/plain", "caf\ufffd", id="latin-1 without a name"),
        pytest.param(b'{"a": "caf\xe9"}', "application/json", '{"a": "caf\ufffd"}', id="latin-1 in JSON"),
        pytest.param(b"caf\xe9", "text/plain; charset=none-such", "caf\ufffd", id="unknown encoding"),
        # Python calls these encodings, too.
        pytest.param(
            b"\xff\\u0041", "text/plain; charset=unicode_escape", "\ufffd\\u0041", id="unicode_escape"
        ),
        pytest.param(b"\xffA-", "text/plain; charset=punycode", "\ufffdA-", id="punycode"),
    ],
)
def test_a_body_is_read_in_its_encoding(serve: Serve, content: bytes, content_type: str, text: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
    assert ask(serve(lambda connection: connection.sendall(head.encode() + content))).text == text


def test_an_answer_that_breaks_off_is_reported_as_such(serve: Serve) -> None:
    address = serve(lambda one: one.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"a": '))
    with pytest.raises(TargetError) as caught:
        ask(address)
    assert str(caught.value) == f"mine broke its answer off before it was whole ({address})."
    assert caught.value.retryable


def test_what_unpacks_to_far_more_stops_at_the_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred megabytes of zeros in a hundred kilobytes, packed once more."""
    bomb = gzip.compress(gzip.compress(bytes(100_000_000)))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    address = serve(lambda connection: connection.sendall(head.encode() + bomb))
    with pytest.raises(TargetError, match=r"mine answered 200 with more than 50,000,000 bytes"):
        ask(address, 600)
    monkeypatch.setattr(http_session, "MAX_FILE_BYTES", 3_000_000)
    file = io.BytesIO()
    with pytest.raises(TargetError, match=r"mine sent a file of more than 3,000,000 bytes"):
        HttpSession("mine", Redactor(), timeout_seconds=600).send("GET", address, headers={}, into=file)
    assert len(file.getvalue()) < 10_000_000


def test_a_proxy_that_cannot_be_reached_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name, value in (("NO_PROXY", ""), ("HTTP_PROXY", f"http://user:secret@127.0.0.1:{port}")):
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    sentence = r"through the proxy that the environment names: .*refused"
    with pytest.raises(TargetError, match=sentence) as caught:
        ask("http://service.example/ask")
    assert "secret" not in str(caught.value)
