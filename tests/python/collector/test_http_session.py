"""Test that every request checks certificates. The targets' contract tests the rest."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from urllib3.exceptions import SSLError
from urllib3.util.ssl_match_hostname import CertificateError

from collector.errors import TargetError
from collector.redaction import Redactor
from collector.targets.http import session as http_session
from collector.targets.http.session import HttpSession
from tests.python.answering import serving

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
    command = f"""
        req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2
        -keyout {folder}/key.pem -out {folder}/certificate.pem -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1
    """
    subprocess.run([str(OPENSSL), *command.split()], check=True, capture_output=True)
    return folder / "certificate.pem"


@contextmanager
def running(context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Answer Hello, with TLS or without; yield the address for TLS."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hello)
    if context is not None:
        # The handshake in the connection's own thread: one that fails there ends only that connection.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.handle_error = lambda *_: None
    with serving(server) as root:
        yield f"{root.replace('http:', 'https:')}/hello"


@pytest.fixture
def address(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with running(context) as started:
        yield started


def failure(address: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    return caught.value


def test_a_certificate_that_nobody_signed_stops_the_run(address: str) -> None:
    error = failure(address)
    assert f"mine cannot be trusted at {address}" in str(error)
    assert error.stops_run
    assert "self-signed certificate" in str(error)


def test_an_address_without_tls_stops_the_run() -> None:
    with running() as address:
        error = failure(address)
    assert f"mine cannot be trusted at {address}" in str(error)
    assert error.stops_run


def test_a_connection_closed_during_the_handshake_is_tried_again(serve: Callable[..., str]) -> None:
    error = failure(serve(lambda _: None).replace("http:", "https:"))
    assert re.match(r"mine (broke the TLS handshake at|cannot be reached at) ", str(error))
    assert error.retryable
    assert not error.stops_run
    assert "trusted" not in str(error)


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


def test_a_certificate_of_an_own_authority_is_accepted(
    address: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    reply = HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    assert (reply.status, reply.text) == (200, "Hello")
