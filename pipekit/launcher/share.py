"""Share the phone page with a class: one file, read-only, on the local network. The lab stays on this machine."""

import gzip
import html
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from typing import Any

from .lab import open_browser
from .places import Places
from .words import LINES, SetupError, Voice

FIRST_PORT, NUM_PORTS = 8000, 100
SILENCE = 10  # seconds after which a phone that says nothing is let go
LONGEST = 60  # seconds after which any is, also one that dribbles
MOST = 200  # phones at the same time; of more, those that have been there longest are let go
PATIENCE = 128  # phones that may knock at the same moment
ELSEWHERE = ("192.168.255.254", "10.255.255.254", "172.31.255.254", "198.51.100.1")  # nobody is spoken to
BORDER = 2  # modules around the picture in a terminal
# Colours of the ground: spaces are as wide everywhere.
DARK, LIGHT, PLAIN = "\x1b[40m", "\x1b[107m", "\x1b[0m"


class Page(ThreadingHTTPServer):
    """Serves one page at `/` and knows nothing else.

    Args:
        page: HTML. address: (of this machine, port).
    """

    daemon_threads = True
    request_queue_size = PATIENCE
    allow_reuse_address = os.name == "posix"  # elsewhere this would allow a port that is taken

    def __init__(self, page: bytes, address: tuple[str, int]) -> None:
        self.page, self.packed = page, gzip.compress(page)
        self.visits = 0
        self.since: dict[Any, float] = {}  # socket -> when it knocked, in that order
        self.counting = threading.Lock()
        super().__init__(address, Answer)

    def server_bind(self) -> None:
        """As its parent, but without asking a name server for this machine's name."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(self.allow_reuse_address))
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """As its parent, and note when it began."""
        self.since[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """As its parent, and forget it."""
        self.since.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called now and then while it serves: let go who hangs on."""
        phones = list(self.since.items())
        for number, (phone, since) in enumerate(phones):
            if number < len(phones) - MOST or time.monotonic() - since > LONGEST:
                with suppress(OSError):  # it went by itself
                    phone.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *ignored: Any) -> None:
        """A phone that went away is nothing to report."""

    @property
    def url(self) -> str:
        """What is typed into a browser."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/"


class Answer(BaseHTTPRequestHandler):
    """Answers one request: the page at `/`, nothing elsewhere, and no other method."""

    server: Page
    timeout = SILENCE
    server_version, sys_version = "pipekit", ""

    def do_GET(self) -> None:
        """The page."""
        if self.give() and self.command == "GET":
            with self.server.counting:
                self.server.visits += 1

    do_HEAD = do_GET

    def give(self) -> bool:
        """Send the page if it is asked for; whether it was."""
        if self.path.partition("?")[0] != "/":  # messengers add a question mark of their own
            self.send_error(HTTPStatus.NOT_FOUND)
            return False
        packed = "gzip" in self.headers.get("Accept-Encoding", "")
        body = self.server.packed if packed else self.server.page
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.command == "GET":
            self.connection.settimeout(
                LONGEST
            )  # all of it: networks are slow where a whole class looks at once
            self.wfile.write(body)
        return True

    def refuse(self) -> None:
        """There is nothing here that can be changed."""
        self.send_response(HTTPStatus.METHOD_NOT_ALLOWED)
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = refuse

    def log_message(self, *ignored: Any) -> None:
        """Who looks at the page is nobody's business."""


def share(places: Places, voice: Voice, language: str, address: str | None = None) -> int:
    """Serve the page until Ctrl-C; say where, and how often it was opened.

    Args:
        address: of this machine, for the network the phones are in; left out: the likeliest.

    Raises:
        SetupError: no network, an address that isn't this machine's, no free port, or the page can't be made.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended from outside, it says how it went too
    found = [address] if address else addresses()
    if not found:
        raise SetupError("no_lan")
    page = make_page(places, language)
    with served(page, found[0]) as phones, served(screen(phones.url, language), "127.0.0.1") as projector:
        voice.say("shared", url=phones.url)
        show_terminal(phones.url)
        if not open_browser(projector.url):
            voice.say("open_picture", url=projector.url)
        if len(found) > 1:
            voice.say("other_addresses", addresses=", ".join(found[1:]))
        voice.say("share_help")
        try:
            count_visits(phones, voice, threading.Event())
        except KeyboardInterrupt:
            voice.say("share_ended", count=phones.visits)
    return 0


def count_visits(phones: Page, voice: Voice, stop: threading.Event, seconds: float = 1.0) -> None:
    """Say how often the page was opened, whenever that has changed, at most once in so many seconds."""
    said = 0
    while not stop.wait(seconds):
        if phones.visits != said:
            said = phones.visits
            voice.say("visits", count=said)


# Where it is served


def addresses() -> list[str]:
    """This machine's addresses in local networks, the likeliest first."""
    routes = [address for target in ELSEWHERE if (address := address_towards(target))]
    try:
        named = socket.gethostbyname_ex(socket.gethostname())[2]
    except OSError:  # a machine that doesn't know its own name
        named = []
    return [address for address in dict.fromkeys([*routes, *named]) if is_lan(address)]


def address_towards(target: str) -> str | None:
    """Which of this machine's addresses would speak to another one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((target, 9))
            return str(probe.getsockname()[0])
        except OSError:  # no way there
            return None


def is_lan(address: str) -> bool:
    """Whether phones could reach it: no address of this machine alone, none that a machine gives itself for want of one."""
    number = IPv4Address(address)
    return not (number.is_loopback or number.is_link_local or number.is_unspecified or number.is_multicast)


@contextmanager
def served(page: bytes, address: str, first: int = FIRST_PORT) -> Iterator[Page]:
    """Serve a page at the first free port of an address, until the block ends."""
    server = listening(page, address, first)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def listening(page: bytes, address: str, first: int) -> Page:
    """A server at the first free port from `first` up."""
    if not is_here(address):
        raise SetupError("not_here", address=address, known=", ".join(addresses()) or "-")
    for port in range(first, first + NUM_PORTS):
        with suppress(OSError):
            return Page(page, (address, port))
    raise SetupError("no_share_port", first=first, last=first + NUM_PORTS - 1)


def is_here(address: str) -> bool:
    """Whether this machine has the address."""
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
            return not IPv4Address(address).is_unspecified
    except (OSError, ValueError):
        return False


# What is shown


def make_page(places: Places, language: str) -> bytes:
    """The phone page, as the command line writes it."""
    file = places.lab / f"phone-{language}.html"
    command = [sys.executable, "-m", "pipekit", "page", "--lang", language, "--out", str(file)]
    made = subprocess.run(command, cwd=places.root, capture_output=True, encoding="utf-8", errors="replace")
    if made.returncode:
        raise SetupError("page_failed", line=(made.stderr.strip().splitlines() or ["?"])[-1])
    return file.read_bytes()


def qr_code(url: str) -> Any:
    """The address as a QR picture."""
    import segno

    return segno.make(url, error="m", micro=False)


def show_terminal(url: str) -> None:
    """Draw the picture in a terminal that knows colours, with spaces only: no letter is as wide everywhere."""
    if not sys.stdout.isatty() or (os.name == "nt" and not os.environ.get("WT_SESSION")):
        return
    print(terminal_picture(url), flush=True)


def terminal_picture(url: str) -> str:
    """A line of the picture a line of the terminal, two spaces a module."""
    rows = qr_code(url).matrix_iter(border=BORDER)
    return "\n".join("".join((DARK if dark else LIGHT) + "  " for dark in row) + PLAIN for row in rows)


def screen(url: str, language: str) -> bytes:
    """A page for the projector: the picture, the address in large letters, what to do."""
    picture = qr_code(url).svg_inline(scale=10, border=4, omitsize=True)
    lines = {key: html.escape(LINES[key][language]) for key in ("screen_title", "screen_how", "screen_also")}
    return SCREEN.format(
        lang={"zh": "zh-CN", "en": "en"}[language], url=html.escape(url), picture=picture, **lines
    ).encode()


SCREEN = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>{screen_title}</title><link rel="icon" href="data:,">
<style>
body {{ margin: 0; padding: 2vh 3vw; font: 28px/1.4 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; color: #1a1a1a;
  background: white; display: flex; gap: 4vw; align-items: center; min-height: 96vh; box-sizing: border-box; }}
svg {{ height: 92vh; max-width: 55vw; flex: none; }}
h1 {{ font-size: 40px; }} b {{ font-size: 36px; overflow-wrap: anywhere; }}
</style></head>
<body><div role="img" aria-label="{url}">{picture}</div>
<div><h1>{screen_title}</h1><p>{screen_how}</p><p><b>{url}</b></p><p>{screen_also}</p></div></body></html>
"""
