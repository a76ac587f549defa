"""What can go wrong while setting up: each is one paragraph, in Chinese and in English, that says what to do."""

import errno
import http.server
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from setup_folder import ROOT, copy_of_pipekit, prepared_folder, quiet_environment

from pipekit.launcher import bundle, environment, words
from pipekit.launcher.environment import Pip, Sources, why
from pipekit.launcher.main import main
from pipekit.launcher.places import Places
from pipekit.launcher.words import SetupError, Voice

posix = pytest.mark.skipif(os.name == "nt", reason="the fake Python is a shell script")
DISK = shutil.disk_usage(ROOT)._replace(free=10**13)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """pipekit's files where nothing is prepared, on a machine with room."""
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: DISK)
    return copy_of_pipekit(tmp_path / "pipekit (课)")


def fake_python(root: Path, pip_says: str = "", torch_says: str = "") -> None:
    """A `.venv` whose pip and torch fail with these words, or succeed without a word."""
    python = Places(root).python
    python.parent.mkdir(parents=True, exist_ok=True)
    for name, text in (("pip", pip_says), ("torch", torch_says)):
        (root / ".venv" / f"{name}-says").write_text(text, encoding="utf-8")
    python.write_text(
        '#!/bin/sh\nhere=$(dirname "$(dirname "$0")")\n'
        'case "$2" in pip) says="$here/pip-says";; *) says="$here/torch-says";; esac\n'
        'echo "$@" >> "$here/calls"\n'
        'cat "$says" >&2\n[ ! -s "$says" ]\n',
        encoding="utf-8",
    )
    python.chmod(0o755)


def calls(root: Path) -> list[str]:
    """What the fake Python was asked to do."""
    return (root / ".venv" / "calls").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def explained(root, monkeypatch, capfd):
    """Run `start.py setup`; the two paragraphs it ends with, Chinese first."""
    monkeypatch.setattr(environment, "make_venv", lambda places: None)

    def run(*arguments: str) -> list[str]:
        assert main(root, ["setup", *arguments]) == 1
        return paragraphs(capfd.readouterr().err)

    return run


def paragraphs(said: str) -> list[str]:
    """Exactly two paragraphs of one line each, one of them Chinese."""
    chinese, english = (part.removeprefix("pipekit: ") for part in said.strip().split("\n\n"))
    assert "\n" not in chinese + english and "{" not in english
    assert chinese.endswith("。") and "。" not in english
    return [chinese, english]


# pip says why, in its own words; these are real ones

PIP_SAYS = {
    "no_network": [
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3."
        "connection.HTTPSConnection object at 0x1>: Failed to establish a new connection: [Errno -3] Temporary "
        "failure in name resolution')': /simple/torch/\nERROR: Could not find a version that satisfies the "
        "requirement torch==2.13.0 (from versions: none)\nERROR: No matching distribution found for torch==2.13.0",
        "NewConnectionError: Failed to establish a new connection: [Errno 11001] getaddrinfo failed",
        "ProxyError('Cannot connect to proxy.', ConnectionResetError(10054))",
    ],
    "slow_mirror": [
        "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='mirror', port=443): Read timed "
        "out.",
        "WARNING: Retrying after connection broken by 'ConnectTimeoutError'\nERROR: No matching distribution found",
    ],
    "certificate": [
        "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self "
        "signed certificate in certificate chain'))\nERROR: No matching distribution found for torch",
    ],
    "disk_full": [
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "OSError: [WinError 112] There is not enough space on the disk",
    ],
    "path_too_long": [
        "ERROR: Could not install packages due to an OSError: [Errno 36] File name too long: 'x'",
        "OSError: [WinError 206] The filename or extension is too long",
        "HINT: This error might have occurred since this system does not have Windows Long Path support enabled. "
        "You can find information on how to enable this at a page about enabling long paths",
    ],
    "no_permission": [
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: 'x'",
        "PermissionError: [WinError 5] Access is denied: 'x'",
    ],
    "no_match": [
        "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
        "ERROR: No matching distribution found for torch==2.13.0",
    ],
    "pip_failed": ["ERROR: Something that nobody has seen before", ""],
}
WAY_OUT = {  # what a paragraph must tell to do, or name
    "no_network": ("start.py bundle", "pip.log"),
    "slow_mirror": ("--index-url", "pip.log"),
    "certificate": ("global.cert", "pip.log"),
    "disk_full": ("10000.0 GB", "pipekit (课)"),
    "path_too_long": ("pipekit (课)", str(environment.path_limit())),
    "no_permission": ("pipekit (课)",),
    "no_match": ("Python 3.12", "torch 2."),
    "pip_failed": ("Something that nobody has seen before", "pip.log"),
}


@pytest.mark.parametrize(("key", "said"), [(key, said) for key in PIP_SAYS for said in PIP_SAYS[key]])
def test_pips_words_are_understood(key, said):
    assert why(said) == key


@posix
@pytest.mark.parametrize("key", PIP_SAYS)
def test_what_pip_could_not_do_is_explained(root, explained, key):
    fake_python(root, pip_says=PIP_SAYS[key][0])
    if key != "no_match":
        both = explained()
    else:  # pip itself is there, torch is not
        python = Places(root).python
        script = python.read_text(encoding="utf-8")
        python.write_text(
            script.replace('case "$2"', 'case "$*" in *"pip>="*) exit 0;; esac\ncase "$2"'), encoding="utf-8"
        )
        both = explained()
    for text in both:
        assert all(word in text for word in WAY_OUT[key]), text
    assert not Places(root).stamp.exists()


@posix
def test_pips_own_words_are_kept_in_its_log_and_not_in_the_terminal(root, monkeypatch, capfd):
    monkeypatch.setattr(environment, "make_venv", lambda places: None)
    fake_python(root, pip_says="ERROR: words of pip")
    assert main(root, ["setup"]) == 1
    assert "words of pip" in Places(root).pip_log.read_text(encoding="utf-8")
    out, err = capfd.readouterr()
    assert "words of pip" not in out and err.count("words of pip") == 2  # each paragraph quotes it once


def test_progress_shows_what_pip_is_at_and_not_its_warnings():
    assert (
        environment.newest_line("Downloading torch\n  Installing torch\nWARNING: odd\n\n")
        == "Installing torch"
    )
    assert environment.newest_line("") == "..."


class Silent(http.server.BaseHTTPRequestHandler):
    """A mirror that takes a request and never answers it."""

    def do_GET(self):
        self.server.until.wait(20)

    def log_message(self, *ignored):
        pass


@pytest.fixture
def silent_mirror():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.until = threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.until.set()
    server.shutdown()
    server.server_close()
    thread.join()


def real_pip(root: Path, index: str) -> Pip:
    """The pip of the Python that runs the tests, which finds nothing but what an index has."""
    python = Places(root).python
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return Pip(Places(root), Voice("en"), Sources(index_url=index))


IMPATIENT = ["--no-deps", "--retries", "1", "--timeout", "1", "no-such-package-at-all"]


@posix
def test_a_real_pip_without_a_way_to_its_index_is_understood(root, monkeypatch):
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        pip = real_pip(root, f"http://127.0.0.1:{unused.getsockname()[1]}/simple")
        with pytest.raises(SetupError) as caught:
            pip.install("it", IMPATIENT)
    assert caught.value.key == "no_network"


@posix
def test_a_real_pip_whose_mirror_never_answers_is_understood(root, silent_mirror):
    with pytest.raises(SetupError) as caught:
        real_pip(root, silent_mirror).install("it", IMPATIENT)
    assert caught.value.key == "slow_mirror"


# Before pip is asked


@pytest.mark.parametrize(("module", "key"), [("venv", "no_venv"), ("ensurepip", "no_pip")])
def test_a_python_without_venv_or_pip_is_told_so(root, monkeypatch, capfd, module, key):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else found(name))
    assert main(root, ["setup"]) == 1
    for text in paragraphs(capfd.readouterr().err):
        assert f"python{environment.python_series()}-venv" in text and "conda" in text
        assert text in (
            SetupError(key, python=environment.python_series()).text(lang) for lang in ("zh", "en")
        )


def test_a_venv_that_cannot_be_made_is_explained(root, monkeypatch, capfd):
    answer = subprocess.CompletedProcess([], 1, "", "Error: something odd about venv")
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: answer)
    assert main(root, ["setup"]) == 1
    for text in paragraphs(capfd.readouterr().err):
        assert "Error: something odd about venv" in text and ".venv" in text


def test_a_full_disk_is_noticed_before_anything_is_downloaded(root, explained, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: DISK._replace(free=1_234_000_000))
    for text in explained():
        assert "1.2 GB" in text and f"{environment.needed_gb():.1f} GB" in text
    assert not Places(root).venv.exists()


def test_a_disk_that_fills_up_while_we_write_is_explained(root, monkeypatch, capfd):
    def full(*ignored):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(environment, "make_venv", full)
    assert main(root, ["setup"]) == 1
    assert "disk" in paragraphs(capfd.readouterr().err)[1]


@pytest.mark.parametrize(
    ("number", "key"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.ENAMETOOLONG, "path_too_long"),
        (errno.EACCES, "no_permission"),
        (errno.EROFS, "no_permission"),
    ],
)
def test_errors_of_the_file_system_are_understood(root, number, key):
    assert environment.explained(OSError(number, "words", "file"), root).key == key


def test_an_error_that_nobody_foresaw_keeps_its_traceback(root, monkeypatch):
    def odd(*ignored):
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(environment, "make_venv", odd)
    with pytest.raises(OSError, match="the disk is broken"):
        main(root, ["setup"])


def test_a_path_too_long_for_windows_is_noticed_before_anything_is_downloaded(root, explained, monkeypatch):
    monkeypatch.setattr(environment, "path_limit", lambda: 20)
    for text in explained():
        assert str(len(str(root))) in text and "20" in text and environment.SHORT_PLACE in text


def test_windows_leaves_63_characters_for_the_root_unless_it_allows_long_paths(monkeypatch):
    assert environment.path_limit("win32") == 63
    monkeypatch.setattr(environment, "windows_allows_long_paths", lambda: True)
    assert environment.path_limit("win32") > 200 and environment.path_limit("linux") > 3000


@posix
@pytest.mark.skipif(not (ROOT / ".venv").is_dir(), reason="no .venv here to measure")
def test_no_installed_file_has_a_longer_path_than_we_reckon_with():
    (site,) = (ROOT / ".venv" / "lib").glob("python3*/site-packages")
    longest = max(len(str(path.relative_to(site))) for path in site.rglob("*"))
    assert len("\\.venv\\Lib\\site-packages\\") + longest <= environment.LONGEST_INSIDE + 1


def test_wheels_made_for_another_machine_are_refused(root, explained):
    (root / "wheels").mkdir()
    label = {"platform": "windows", "python": "3.9"}
    (root / "wheels" / "bundle.json").write_text(json.dumps(label), encoding="utf-8")
    for text in explained():
        assert "windows" in text and "Python 3.9" in text and f"Python {environment.python_series()}" in text


def test_a_constraints_file_without_torch_is_said(root, explained):
    (root / "constraints.txt").write_text("numpy==2.0\n", encoding="utf-8")
    fake_python(root)
    assert all("torch==" in text and "constraints.txt" in text for text in explained())


# After pip


@posix
def test_a_torch_that_cannot_be_loaded_is_explained(root, explained):
    fake_python(root, torch_says="Traceback\nImportError: libgomp.so.1: cannot open shared object file")
    for text in explained():
        assert "ImportError: libgomp.so.1" in text and "Visual C++" in text
    assert not Places(root).stamp.exists()


@posix
def test_after_a_break_off_a_broken_torch_is_installed_anew_before_giving_up(root, explained):
    fake_python(root, torch_says="ImportError: DLL load failed while importing _C")
    explained()
    assert not any("--force-reinstall" in call for call in calls(root))
    assert Places(root).unfinished.exists()
    explained()  # the first one broke off
    assert sum("--force-reinstall" in call for call in calls(root)) == 1


@posix
def test_an_interrupted_installation_says_how_to_go_on_and_does_go_on(root, monkeypatch, capfd):
    monkeypatch.setattr(environment, "make_venv", lambda places: None)
    fake_python(root)
    torch = environment.install_torch

    def interrupted(pip):
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "install_torch", interrupted)
    assert main(root, ["setup", "--lang", "en"]) == 130
    assert "start again, and it goes on from there" in capfd.readouterr().out
    monkeypatch.setattr(environment, "install_torch", torch)
    assert main(root, ["setup", "--lang", "en"]) == 0
    assert "was not finished: going on with it" in capfd.readouterr().out
    assert not Places(root).unfinished.exists() and Places(root).stamp.exists()
    number = len(calls(root))
    assert main(root, ["setup"]) == 0 and len(calls(root)) == number  # nothing is done twice


@posix
def test_new_pins_are_installed_with_the_extras_that_were_there(root, monkeypatch):
    monkeypatch.setattr(environment, "make_venv", lambda places: None)
    fake_python(root)
    Places(root).stamp.write_text("old-pins\nlab\ntest\n", encoding="utf-8")
    assert main(root, ["setup"]) == 0
    assert calls(root)[-2].endswith("-e .[lab,test]")
    assert Places(root).stamp.read_text(encoding="utf-8").split()[1:] == ["lab", "test"]


@posix
def test_pip_is_told_where_to_look_and_its_own_settings_are_left_alone(root, monkeypatch):
    monkeypatch.setattr(environment, "make_venv", lambda places: None)
    monkeypatch.setattr(environment, "wants_cpu_build", lambda: True)
    fake_python(root)
    assert main(root, ["setup", "--index-url", "file:///mirror", "--torch-index-url", "file:///torch"]) == 0
    pips = [call for call in calls(root) if call.startswith("-m pip")]
    assert len(pips) == 3 and all("--index-url file:///mirror" in call for call in pips)
    environment_of_pip = environment.child_environment()
    kept = {name for name in os.environ if name.startswith("PIP_") or "PROXY" in name.upper()} - {"PIP_USER"}
    assert all(environment_of_pip[name] == os.environ[name] for name in kept)


@posix
def test_somebody_elses_pipekit_is_refused(tmp_path):
    root = prepared_folder(tmp_path / "here")
    (site,) = (root / ".venv" / "lib").glob("python3*/site-packages")
    (site / "pipekit").mkdir()
    (site / "pipekit" / "__init__.py").write_text("raise SystemError('somebody else')", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "start.py"],
        cwd=root,
        env=quiet_environment(tmp_path / "home"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        ended = threading.Timer(60, process.terminate)  # it opened its lab
        ended.start()
        said = process.stderr.read()
        ended.cancel()
    assert process.returncode == 1
    for text in paragraphs(said):
        assert str(site / "pipekit") in text and f"{Places(root).python} -m pip uninstall pipekit" in text


@pytest.mark.parametrize("name", ["pipekit.py", "pipekit/notes.txt"])
def test_a_learners_own_pipekit_beside_the_notebook_is_found(tmp_path, name):
    places = Places(tmp_path)
    theirs = tmp_path / "my-class" / name
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    with pytest.raises(SetupError, match="Something else called pipekit"):
        environment.check_foreign_pipekit(places)


def test_our_own_pipekit_is_not_foreign():
    assert environment.find_foreign_pipekit(ROOT, [str(ROOT), "/no/such/folder"]) is None


def test_a_bundle_never_goes_into_a_folder_that_holds_something(root, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(SetupError) as caught:
        bundle.make_bundle(Pip(Places(root), Voice("en"), Sources()), "linux", "3.12", tmp_path / "full")
    assert caught.value.key == "bundle_exists"
    with pytest.raises(SetupError) as wrong:
        bundle.make_bundle(Pip(Places(root), Voice("en"), Sources()), "linux", "latest", tmp_path / "new")
    assert wrong.value.key == "bundle_python" and "like 3.12, not latest" in wrong.value.text("en")
    assert all("--into" in caught.value.text(language) for language in ("zh", "en"))


@posix
def test_a_folder_that_may_not_be_written_to_is_explained(root, capfd, monkeypatch):
    def refused(*ignored, **more):
        raise PermissionError(errno.EACCES, "Permission denied", str(root / ".lab"))

    monkeypatch.setattr(Path, "mkdir", refused)
    assert main(root, ["setup"]) == 1
    for text in paragraphs(capfd.readouterr().err):
        assert str(root / ".lab") in text


def test_every_failure_is_injected_somewhere():
    """The keys below are checked by name here, in test_setup_lab.py or in test_setup_share.py; a new one must be, too."""
    here = (Path(__file__)).read_text(encoding="utf-8")
    elsewhere = {"lab_ended", "lab_silent", "no_port", "no_lan", "not_here", "no_share_port", "page_failed"}
    named = set(PIP_SAYS) | elsewhere | {"venv_failed", "wheels_unfit", "constraints", "torch_broken"}
    named |= {
        key for key in ("no_venv", "no_pip", "bundle_exists", "bundle_python") if f'"{key}"' in here
    } | {"foreign_pipekit"}
    assert named == set(words.FAILURES)
