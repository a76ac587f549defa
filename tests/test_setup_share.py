"""`start.py share`: one page on the local network, for many phones at once, and nothing else."""

import gzip
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

import pytest
from setup_folder import prepared_folder, quiet_environment

from pipekit.launcher import main as launcher
from pipekit.launcher import share
from pipekit.launcher.words import FAILURES, LINES, SetupError, Voice

pytestmark = pytest.mark.alone
HERE, PORT = "127.0.0.1", 18200
PAGE = "<!doctype html><title>流水线</title>".encode() * 20_000  # large enough to fill a socket's buffer
OUTSIDE = [
    "/index.html",
    "/phone-zh.html",
    "//start.py",
    "/.",
    "/..",
    "/../start.py",
    "/%2e%2e/start.py",
    "/..%2f..%2fetc/passwd",
    "/etc/passwd",
    "/?/../start.py/..",
    "/.lab/running.json",
    "/favicon.ico",
    "/lab",
    "/api/sessions",
    "http://127.0.0.1/",
    "*",
]
METHODS = ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"]


@pytest.fixture
def server():
    with share.served(PAGE, HERE, PORT) as serving:
        yield serving


def ask(server, path="/", method="GET", headers=(), body=None):
    """(status, headers, body) of one request, its path sent as it is written."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=10)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in dict(headers).items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


# What it gives out


def test_the_page_is_given_out_whole_and_its_language_is_known(server):
    status, headers, body = ask(server)
    assert (status, body) == (200, PAGE)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Server"].strip() == "pipekit"


def test_a_phone_that_can_unpack_gets_it_packed(server):
    status, headers, body = ask(server, headers={"Accept-Encoding": "gzip, deflate"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert len(body) < len(PAGE) / 10 and gzip.decompress(body) == PAGE


def test_head_gives_the_length_and_no_page(server):
    status, headers, body = ask(server, method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, str(len(PAGE)), b"")


def test_what_a_messenger_adds_to_the_address_does_no_harm(server):
    assert ask(server, "/?from=singlemessage&isappinstalled=0")[0] == 200


@pytest.mark.parametrize("path", OUTSIDE)
def test_there_is_nothing_but_the_page(server, path):
    if path == "/?/../start.py/..":  # all of it a question: the page, and no file
        assert ask(server, path)[2] == PAGE
    else:
        status, _, body = ask(server, path)
        assert status == 404 and b"html" in body and len(body) < 1000 and PAGE[:20] not in body


@pytest.mark.parametrize("method", METHODS)
def test_nothing_can_be_changed(server, method):
    status, headers, _ = ask(server, method=method, headers={"Content-Length": "3"}, body=b"abc")
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_a_method_that_nobody_knows_is_refused_and_the_server_lives(server):
    assert ask(server, method="BREW")[0] == 501
    assert ask(server)[0] == 200


def test_only_opened_pages_are_counted_and_nobody_is_written_down(server, capfd):
    for method, path in (("GET", "/"), ("GET", "/?x"), ("HEAD", "/"), ("GET", "/favicon.ico"), ("POST", "/")):
        ask(server, path, method)
    assert server.visits == 2
    assert capfd.readouterr() == ("", "")


# Many phones


def test_a_class_of_sixty_is_served_at_once(server):
    with ThreadPoolExecutor(60) as phones:
        answers = list(phones.map(lambda _: ask(server), range(60)))
    assert all((status, body) == (200, PAGE) for status, _, body in answers)
    assert server.visits == 60


def test_phones_that_say_nothing_or_go_away_keep_nobody_waiting(server, capfd):
    idle = [socket.create_connection(server.server_address[:2]) for _ in range(20)]
    gone = socket.create_connection(server.server_address[:2])
    gone.sendall(b"GET / HTTP/1.1\r\n\r\n")
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    gone.close()
    began = time.monotonic()
    assert ask(server)[0] == 200
    assert time.monotonic() - began < 5
    for each in idle:
        each.close()
    assert capfd.readouterr().err == ""


def test_silent_phones_do_not_hold_up_the_end():
    with share.served(PAGE, HERE, PORT) as server:
        silent = [socket.create_connection(server.server_address[:2]) for _ in range(5)]
        ask(server)
        began = time.monotonic()
    assert time.monotonic() - began < 3
    for each in silent:
        each.close()


def test_a_silent_phone_is_let_go(server, monkeypatch):
    assert share.Answer.timeout == share.SILENCE <= 30
    monkeypatch.setattr(share.Answer, "timeout", 0.2)
    with socket.create_connection(server.server_address[:2], timeout=5) as phone:
        assert phone.recv(1) == b""


def test_a_phone_that_only_dribbles_is_let_go(server, monkeypatch):
    assert share.SILENCE < share.LONGEST <= 120
    monkeypatch.setattr(share, "LONGEST", 0.5)
    with socket.create_connection(server.server_address[:2]) as phone, pytest.raises(OSError):
        for _ in range(50):
            phone.sendall(b"x")
            time.sleep(0.1)


def test_a_phone_on_a_slow_network_gets_the_whole_page(monkeypatch):
    monkeypatch.setattr(share.Answer, "timeout", 0.3)
    large = PAGE * 12  # no socket's buffer takes all of it
    with share.served(large, HERE, PORT) as server, socket.socket() as phone:
        phone.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        phone.connect(server.server_address[:2])
        phone.sendall(b"GET / HTTP/1.0\r\n\r\n")
        time.sleep(1)
        body = b"".join(iter(lambda: phone.recv(65536), b"")).partition(b"\r\n\r\n")[2]
    assert body == large


def test_of_too_many_phones_those_that_hang_on_longest_are_let_go(server, monkeypatch):
    monkeypatch.setattr(share, "MOST", 3)
    hanging = [socket.create_connection(server.server_address[:2], timeout=5) for _ in range(6)]
    assert [phone.recv(1) for phone in hanging[:3]] == [b""] * 3
    assert ask(server)[0] == 200
    for phone in hanging:
        phone.close()


# Where it is served


def test_a_busy_port_makes_way_for_the_next(server):
    with share.served(b"second", HERE, PORT) as second, share.served(b"third", HERE, PORT) as third:
        ports = [each.server_address[1] for each in (server, second, third)]
        assert ports == sorted(set(ports)) and ports[0] >= PORT
        assert [ask(each)[2] for each in (second, third)] == [b"second", b"third"]
        assert server.url == f"http://127.0.0.1:{ports[0]}/"


def test_a_port_is_free_again_after_the_end():
    with share.served(b"first", HERE, PORT) as first:
        port = first.server_address[1]
        ask(first)
    with share.served(b"second", HERE, port) as second:
        assert second.server_address[1] == port


def test_no_free_port_is_said(monkeypatch):
    monkeypatch.setattr(share, "NUM_PORTS", 1)
    with socket.socket() as taken, pytest.raises(SetupError, match="all taken"):
        taken.bind((HERE, 0))
        taken.listen()
        share.listening(b"", HERE, taken.getsockname()[1])


@pytest.mark.parametrize("address", ["198.51.100.7", "0.0.0.0", "elsewhere.invalid", ""])
def test_an_address_that_is_not_this_machines_is_refused(address):
    with pytest.raises(SetupError, match="no address"):
        share.listening(b"", address, PORT)


def test_only_the_chosen_address_is_listened_on(server):
    assert server.server_address[0] == HERE
    for other in share.addresses():
        with socket.socket() as phone, pytest.raises(OSError):
            phone.settimeout(2)
            phone.connect((other, server.server_address[1]))


def routes(monkeypatch, by_target, named=()):
    monkeypatch.setattr(share, "address_towards", lambda target: by_target.get(target))
    monkeypatch.setattr(socket, "gethostname", lambda: "desk")
    monkeypatch.setattr(socket, "gethostbyname_ex", lambda name: (name, [], list(named)))


def test_of_several_addresses_the_one_with_a_way_out_comes_first(monkeypatch):
    home, lab, public = share.ELSEWHERE[0], share.ELSEWHERE[1], share.ELSEWHERE[3]
    routes(
        monkeypatch,
        {home: "192.168.1.23", lab: "10.0.0.4", public: "192.168.1.23"},
        ["127.0.1.1", "10.0.0.4", "172.17.0.1"],
    )
    assert share.addresses() == ["192.168.1.23", "10.0.0.4", "172.17.0.1"]


def test_a_machine_without_a_network_has_no_address(monkeypatch):
    routes(monkeypatch, {}, ["127.0.0.1", "127.0.1.1", "169.254.12.9"])
    assert share.addresses() == []

    def unknown(name):
        raise socket.gaierror

    monkeypatch.setattr(socket, "gethostbyname_ex", unknown)
    assert share.addresses() == []


def test_this_machines_own_addresses_can_be_asked_without_a_packet():
    for address in share.addresses():
        assert not ip_address(address).is_loopback and share.is_here(address)


# What is shown


def test_the_picture_in_the_terminal_is_spaces_and_colours_and_reads_as_the_address():
    url = "http://192.168.123.234:8000/"
    lines = share.terminal_picture(url).splitlines()
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    assert {*"".join(plain)} == {" "} and len({len(line) for line in plain}) == 1
    assert len(lines) <= 33 and len(plain[0]) == 2 * len(lines) < 80
    dark = [[ground == "40" for ground in re.findall(r"\x1b\[(40|107)m", line)] for line in lines]
    modules = [
        [bool(module) for module in row] for row in share.qr_code(url).matrix_iter(border=share.BORDER)
    ]
    assert dark == modules


def test_the_projector_shows_the_address_large_with_its_picture():
    for language in ("zh", "en"):
        html = share.screen("http://10.0.0.4:8000/", language).decode("utf-8")
        assert (
            "<b>http://10.0.0.4:8000/</b>" in html
            and "<svg" in html
            and "{" not in re.sub(r"<style>.*?</style>", "", html, flags=re.S)
        )
        assert LINES["screen_how"][language] in html and "src=" not in html


@pytest.mark.parametrize(
    "key", ["shared", "share_help", "open_picture", "other_addresses", "visits", "share_ended"]
)
def test_what_it_says_fits_a_chinese_terminal(key):
    LINES[key]["zh"].encode("gbk")
    LINES[key]["en"].encode("ascii")


def test_failures_say_what_to_do_in_both_languages():
    for key in ("no_lan", "not_here", "no_share_port", "page_failed"):
        FAILURES[key]["zh"].encode("gbk")
        FAILURES[key]["en"].encode("ascii")


def test_visits_are_said_when_they_change(capsys):
    class Phones:
        visits = 0

    stop = threading.Event()
    saying = threading.Thread(target=share.count_visits, args=(Phones, Voice("en"), stop, 0.01))
    saying.start()
    for visits in (1, 3):
        Phones.visits = visits
        time.sleep(0.2)
    stop.set()
    saying.join()
    assert capsys.readouterr().out == "pipekit: visits: 1\npipekit: visits: 3\n"


def test_without_a_network_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(share, "addresses", lambda: [])
    with pytest.raises(SetupError, match="no network"):
        share.share(None, Voice("zh"), "zh")


def test_an_address_is_for_share_only():
    assert launcher.parse(["share", "--address", "10.0.0.4"])[0].address == "10.0.0.4"
    with pytest.raises(SystemExit):
        launcher.parse(["--address", "10.0.0.4"])


# As a teacher calls it


@pytest.mark.skipif(os.name == "nt", reason="the prepared folder borrows packages by a symlink")
def test_a_teacher_shares_a_phone_opens_and_control_c_ends_it(tmp_path):
    root = prepared_folder(tmp_path / "课 堂" / "pipekit")
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    output = tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "start.py", "share", "--address", HERE],
            cwd=root,
            env=quiet_environment(tmp_path / "home", BROWSER=f"{browser} %s", PYTHONIOENCODING="utf-8"),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )

    def until(text):
        deadline = time.monotonic() + 60
        while text not in (said := output.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline and process.poll() is None, said
            time.sleep(0.05)
        return said

    try:
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", until("按 Ctrl-C 关掉"))[1])
        phone = http.client.HTTPConnection(HERE, port, timeout=10)
        phone.request("GET", "/")
        page = phone.getresponse().read().decode("utf-8")
        assert '<html lang="zh-CN">' in page and "流水线训练" in page
        picture = http.client.HTTPConnection(
            *re.search(r"http://([\d.]+):(\d+)/", opened.read_text("utf-8")).groups(), timeout=10
        )
        picture.request("GET", "/")
        assert f"http://127.0.0.1:{port}/" in picture.getresponse().read().decode("utf-8")
        until("打开过 1 次")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
    said = output.read_text(encoding="utf-8")
    assert "关掉了；一共打开过 1 次" in said and "Traceback" not in said
    with pytest.raises(OSError):
        socket.create_connection((HERE, port), timeout=2)
