"""What holds for every request: certificates are checked. The rest is in the targets' contract."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from collector.errors import TargetError
from collector.targets.http_session import HttpSession
from collector.targets.redaction import Redactor

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
    """A certificate for 127.0.0.1 that no authority has signed, with its key beside it."""
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


def test_a_certificate_of_an_own_authority_is_accepted(
    address: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    reply = HttpSession("mine", Redactor(), timeout_seconds=5).send("GET", address, headers={})
    assert (reply.status, reply.text) == (200, "Hello")
