"""Send one HTTP request and read its reply, with protection of the key and the machine.

Certificates are checked, redirects refused, bodies read up to a limit, logins in ~/.netrc left alone, and secrets cut out of
whatever comes back. Proxies of the environment are used.

urllib3 is used as it is, without requests around it: a call then takes half the processor time, which at many questions a second
is what asking takes from keeping.
"""

from __future__ import annotations

import codecs
import http.client
import io
import os
import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from collector.errors import TargetError
from collector.rates import RateHints
from collector.redaction import Redactor
from collector.targets.http.rate_headers import rate_hints

if TYPE_CHECKING:
    import socket

    import urllib3

CONNECT_TIMEOUT_SECONDS = 10.0
# So much of a body is read, after decompression.
MAX_BODY_BYTES = 50_000_000
# A batch's answers go to a file; packed, a small reply may become one that fills the disk.
MAX_FILE_BYTES = 20_000_000_000
# The number of characters that are kept of a body beyond the limit: enough to identify it without filling memory and journal.
KEPT_OF_LARGE_BODY = 1 << 20
EXCERPT_CHARACTERS = 200
_READ_BYTES = 1 << 16
# How OpenSSL says that the other side speaks no TLS, or none that is spoken here.
_NO_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNSUPPORTED_PROTOCOL", "NO_PROTOCOLS_AVAILABLE"}
)
_HEADERS = {"User-Agent": "biasledger", "Accept-Encoding": "gzip, deflate"}
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]{1,40})", re.IGNORECASE)
_TEXT_ENCODING = re.compile(
    r"iso8859-\d+|cp\d+|koi8-\w|big5\w*|gb\w+|euc_\w+|shift_jis\w*|utf-(?:16|32)(?:-[bl]e)?"
)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer over HTTP: status, the body as text without secrets, latency in milliseconds, rate hints.

    A body that is no UTF-8 is read in the encoding that its header names; what is neither is U+FFFD in the text. A byte order
    mark is no part of it.
    """

    status: int
    text: str
    latency_ms: float
    hints: RateHints | None


class HttpSession:
    """Sends requests, from several threads at once.

    Args:
        name: the target's name, for error sentences.
        redact: cuts the secrets out.
        timeout_seconds: how long one request may take.
    """

    def __init__(self, name: str, redact: Redactor, *, timeout_seconds: float) -> None:
        self._name = name
        self._redact = redact
        self._timeout_seconds = timeout_seconds
        self._local = threading.local()

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        timeout_seconds: float | None = None,
        shown_url: str | None = None,
        into: BinaryIO | None = None,
    ) -> HttpReply:
        """Send a request and read the reply with any status, unless it is a redirect.

        Args:
            method: such as POST.
            url: the address.
            headers: may contain a secret.
            body: what is sent.
            timeout_seconds: a limit below the session's own.
            shown_url: how errors call the address; the address without its secrets if not given.
            into: where the body of a success goes, up to MAX_FILE_BYTES and with any secrets; the reply has no text then.

        Raises:
            TargetError: no answer in time, no connection or a broken TLS handshake (retryable); a redirect, a certificate that
                cannot be verified, an address that is none (these stop the run); headers that are none, a body beyond the limit.
        """
        import urllib3
        from urllib3 import exceptions

        limit = self._timeout_seconds
        if timeout_seconds is not None:
            limit = min(limit, max(timeout_seconds, 0.001))
        shown = self._redact(url) if shown_url is None else shown_url
        started = time.perf_counter()
        pool = self._pool(url)
        self._local.deadline = started + limit
        try:
            with pool.urlopen(
                method,
                url,
                headers={**_HEADERS, **headers},
                body=body,
                timeout=urllib3.Timeout(min(CONNECT_TIMEOUT_SECONDS, limit), limit),
                redirect=False,
                retries=False,
                preload_content=False,
            ) as response:
                if into is not None and 200 <= response.status < 300:
                    self._copy(response, into)
                    content, is_cut = b"", False
                else:
                    content, is_cut = self._read_body(response)
        # It counts as a timeout in urllib3.
        except exceptions.NewConnectionError as error:
            raise self._unreachable(shown, error) from None
        except exceptions.SSLError as error:
            if not _is_lasting(error):
                raise TargetError(
                    f"{self._name} broke the TLS handshake at {shown} off: {self._redact(_root_cause(error))}.",
                    retryable=True,
                ) from None
            raise TargetError(
                f"{self._name} cannot be trusted at {shown}: {self._redact(_root_cause(error))}; its certificate is checked "
                f"against the authorities of this machine or of REQUESTS_CA_BUNDLE.",
                stops_run=True,
            ) from None
        except (exceptions.TimeoutError, TimeoutError):
            raise TargetError(f"{self._name} did not answer within {limit:g} s.", retryable=True) from None
        except exceptions.LocationValueError as error:
            raise TargetError(
                f"{self._name} cannot be asked at {shown}: {excerpt(self._redact(str(error))).rstrip('.')}.",
                stops_run=True,
            ) from None
        except exceptions.HTTPError as error:
            raise self._unreachable(shown, error) from None
        # Cleaned before it is cut, so that the cut leaves no half of a secret.
        text = self._redact(_decoded(content, response.headers.get("Content-Type", "")))
        reply = HttpReply(
            status=response.status,
            text=text[:KEPT_OF_LARGE_BODY] if is_cut else text,
            latency_ms=(time.perf_counter() - started) * 1000,
            hints=rate_hints(response.headers),
        )
        if 300 <= reply.status < 400:
            raise TargetError(
                f"{self._name} answered {reply.status}, a redirect, which is refused so that the key goes nowhere else; put the "
                f"final address into the targets file.",
                stops_run=True,
                raw_body=reply.text,
                status=reply.status,
            )
        if is_cut:
            raise TargetError(
                f"{self._name} answered {reply.status} with more than {MAX_BODY_BYTES:,} bytes, where reading stopped; the "
                f"first {len(reply.text):,} characters are kept.",
                raw_body=reply.text,
                status=reply.status,
                hints=reply.hints,
            )
        return reply

    def _unreachable(self, shown: str, error: Exception) -> TargetError:
        from urllib3.exceptions import ProtocolError, ProxyError

        through = " through the proxy that the environment names" if isinstance(error, ProxyError) else ""
        what = f"cannot be reached at {shown}{through}: {self._redact(_root_cause(error))}"
        if isinstance(error, ProtocolError) and "IncompleteRead" in str(error):
            what = f"broke its answer off before it was whole ({shown})"
        return TargetError(f"{self._name} {what}.", retryable=True)

    def _chunks(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        """Yield the body, unpacked, until the deadline."""
        # Not read: it waits for whole blocks, so a server that sends a byte now and then would hold it for ever.
        while chunk := response.read1(_READ_BYTES, decode_content=True):
            yield chunk
            # Unpacking takes its time without anything coming in.
            if time.perf_counter() > self._local.deadline:
                raise TimeoutError

    def _read_body(self, response: urllib3.BaseHTTPResponse) -> tuple[bytes, bool]:
        """Return the body, and whether it went beyond the limit, so that only what was read until then is returned."""
        body = bytearray()
        for chunk in self._chunks(response):
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return bytes(body), True
        return bytes(body), False

    def _copy(self, response: urllib3.BaseHTTPResponse, into: BinaryIO) -> None:
        """Write the body to a file; raise TargetError beyond the limit."""
        size = 0
        for chunk in self._chunks(response):
            size += into.write(chunk)
            if size > MAX_FILE_BYTES:
                raise TargetError(
                    f"{self._name} sent a file of more than {MAX_FILE_BYTES:,} bytes, where reading stopped.",
                    stops_run=True,
                )

    def _pool(self, url: str) -> urllib3.PoolManager:
        """Return this thread's connections; the environment's proxies and authorities are read once."""
        pool = getattr(self._local, "pool", None)
        if pool is None:
            pool = self._local.pool = _pool_for(url)
            _keep_deadline(pool, self._local)
        return cast("urllib3.PoolManager", pool)


def _pool_for(url: str) -> urllib3.PoolManager:
    import urllib3
    from requests import utils
    from requests.adapters import HTTPAdapter

    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    checks: dict[str, Any] = {"cert_reqs": "CERT_REQUIRED"}
    checks["ca_cert_dir" if bundle and Path(bundle).is_dir() else "ca_certs"] = (
        bundle or utils.DEFAULT_CA_BUNDLE_PATH
    )
    proxy = utils.select_proxy(url, utils.get_environ_proxies(url))
    if proxy is None:
        return urllib3.PoolManager(num_pools=1, maxsize=1, **checks)
    # It knows the login in a proxy's address, and socks.
    address = proxy if "://" in proxy else f"http://{proxy}"
    return cast("urllib3.PoolManager", HTTPAdapter().proxy_manager_for(address, **checks))


class _Incoming(io.RawIOBase):
    """Read from a socket until a deadline: a socket's own time limit begins again with every byte."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, holder: threading.local) -> None:
        self._raw = raw
        self._sock = sock
        self._holder = holder

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._holder.deadline - time.perf_counter()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _keep_deadline(manager: urllib3.PoolManager, holder: threading.local) -> None:
    """Let a manager's connections read, headers and interim answers included, no longer than until `holder.deadline`."""

    def response(sock: socket.socket, *args: Any, **options: Any) -> http.client.HTTPResponse:
        made = http.client.HTTPResponse(sock, *args, **options)
        made.fp = io.BufferedReader(_Incoming(made.fp.detach(), sock, holder))
        return made

    # The pools may be those of a proxy or of socks.
    pools: Mapping[str, Any] = manager.pool_classes_by_scheme
    manager.pool_classes_by_scheme = {
        scheme: type(
            pool.__name__,
            (pool,),
            {
                "ConnectionCls": type(
                    pool.ConnectionCls.__name__,
                    (pool.ConnectionCls,),
                    {"response_class": staticmethod(response)},
                )
            },
        )
        for scheme, pool in pools.items()
    }


def _decoded(content: bytes, content_type: str) -> str:
    """Return a body as text; UTF-8 goes first, because servers name other encodings without thinking."""
    named = _encoding(content_type)
    if named.startswith(("utf-16", "utf-32")):
        # Plain letters in it are also UTF-8, with NULs between them.
        return content.decode(named, "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode(named, "replace")


def _encoding(content_type: str) -> str:
    """Return the encoding that a header names, or UTF-8; only ways of writing text, for Python's codecs know much else."""
    named = _CHARSET.search(content_type)
    try:
        found = codecs.lookup(named[1]).name if named is not None else ""
    except LookupError:
        found = ""
    return found if _TEXT_ENCODING.fullmatch(found) else "utf-8-sig"


def excerpt(text: str) -> str:
    """Return a text on one line, cut after 200 characters; what could steer a terminal is U+FFFD."""
    one_line = " ".join(text[: 10 * EXCERPT_CHARACTERS].split())
    one_line = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in one_line
    )
    return one_line if len(one_line) <= EXCERPT_CHARACTERS else one_line[:EXCERPT_CHARACTERS] + "…"


def _is_lasting(error: BaseException) -> bool:
    """Return whether a TLS error comes again whenever it is tried: a certificate that is none of ours, or somebody who speaks no
    TLS.
    """
    from urllib3.util.ssl_match_hostname import CertificateError

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, ssl.SSLCertVerificationError | CertificateError):
            return True
        if isinstance(inner, ssl.SSLError) and getattr(inner, "reason", None) in _NO_TLS:
            return True
        inner = next((cause for cause in reversed(inner.args) if isinstance(cause, BaseException)), None)
    return False


def _root_cause(error: BaseException) -> str:
    """Return the innermost reason of a connection error, without the object addresses of the outer ones."""
    inner = error
    while causes := [cause for cause in inner.args if isinstance(cause, BaseException)]:
        inner = causes[-1]
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message
    # urllib3 puts the object's repr before the colon.
    return str(inner).rsplit(">: ", 1)[-1].rsplit(": ", 1)[-1].rstrip(".)'\"") or type(inner).__name__
