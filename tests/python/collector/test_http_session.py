"""Test that every request checks certificates. The targets' contract tests the rest."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from urllib3.exceptions import SSLError
from urllib3.util.ssl_match_hostname import CertificateError

from collector.errors import TargetError
from collector.redaction import Redactor
from collector.targets.http import session as http_session
from collector.targets.http.session import HttpSession

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"Hello")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that no authority has signed, with its key next to it."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *(
                str(OPENSSL),
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"), "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return folder / "certificate.pem"


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that accepts a connection and closes it before the handshake is done."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    listening = socket.create_server(("127.0.0.1", 0))

    def work() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1 << 16)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{listening.getsockname()[1]}/hello"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(5)


@pytest.fixture
def address(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hello)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    # The handshake in the connection's own thread: one that fails there ends only that connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/hello"
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_a_certificate_that_nobody_signed_stops_the_run(address: str) -> None:
    with pytest.raises(TargetError, match=f"mine cannot be trusted at {address}") as caught:
        HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    assert caught.value.stops_run
    assert "self-signed certificate" in str(caught.value)


def test_a_connection_closed_during_the_handshake_is_tried_again(closing: str) -> None:
    with pytest.raises(
        TargetError, match=r"mine (broke the TLS handshake at|cannot be reached at) "
    ) as caught:
        HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", closing, headers={})
    assert caught.value.retryable
    assert not caught.value.stops_run
    assert "trusted" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "is_lasting"),
    [
        (
            ssl.SSLEOFError(8, "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred in violation of protocol"),
            False,
        ),
        (ssl.SSLZeroReturnError(6, "TLS/SSL connection has been closed (EOF)"), False),
        (ssl.SSLError(1, "[SSL: TLSV1_ALERT_INTERNAL_ERROR] tlsv1 alert internal error"), False),
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), True),
        (CertificateError("hostname '127.0.0.1' doesn't match 'example.com'"), True),
    ],
)
def test_which_tls_errors_come_again(error: Exception, is_lasting: bool) -> None:
    assert http_session._is_lasting(SSLError(error)) is is_lasting


def test_an_address_without_tls_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hello)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    address = f"https://127.0.0.1:{server.server_address[1]}/hello"
    try:
        with pytest.raises(TargetError, match="cannot be trusted") as caught:
            HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
    assert caught.value.stops_run


def test_a_certificate_of_an_own_authority_is_accepted(
    address: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    reply = HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    assert (reply.status, reply.text) == (200, "Hello")
