"""Panels: errors come back to whoever waits, one run at a time, few drawings, a picture without a kernel."""

import base64
import threading
import time

import pytest

from pipekit.show import Latest, Panel, Run


class Still(Panel):
    def picture_png(self):
        return b"\x89PNG picture"

    def picture_text(self):
        return "F0 F1 B1 B0"


def test_a_run_gives_its_result():
    assert Run(lambda run: 6 * 7).start().wait(timeout=5) == 42


def test_what_went_wrong_comes_back_to_who_waits():
    def fail(run):
        raise ValueError("3 layers")

    run = Run(fail).start()
    with pytest.raises(ValueError, match="3 layers"):
        run.wait(timeout=5)
    assert run.done and isinstance(run.error, ValueError)


def test_waiting_ends_in_time():
    release = threading.Event()
    run = Run(lambda run: release.wait(10)).start()
    with pytest.raises(TimeoutError, match=r"0\.1 s"):
        run.wait(timeout=0.1)
    release.set()
    run.wait(timeout=5)


def test_cancel_sets_the_flag_and_wakes_the_work():
    woken = threading.Event()
    run = Run(lambda run: run.stop.wait(10), on_cancel=woken.set).start()
    run.cancel()
    assert run.wait(timeout=5) is True
    assert woken.is_set()


def test_interrupting_the_wait_cancels_the_work(monkeypatch):
    run = Run(lambda run: run.stop.wait(10)).start()
    waits = iter([KeyboardInterrupt()])
    wait = run._ended.wait

    def interrupted(timeout):
        for error in waits:
            raise error
        return wait(timeout)

    monkeypatch.setattr(run._ended, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.wait()
    assert run.stop.is_set() and run.done


def test_a_new_run_ends_the_old_one_first():
    panel = Still()
    seen = []

    def slow(run):
        run.stop.wait(10)
        seen.append("old ended")

    panel.start(slow)
    panel.start(lambda run: seen.append("new began"))
    panel.wait(timeout=5)
    assert seen == ["old ended", "new began"]


def test_waiting_for_nothing_is_none():
    assert Still().wait() is None


def test_of_many_drawings_only_the_latest_counts():
    drawn = []
    asked = 0
    latest = Latest(lambda: drawn.append(asked))
    for asked in range(1, 200):  # noqa: B007 -- the drawing reads it
        latest.ask()
        time.sleep(0.001)
    latest.settle()
    assert drawn[-1] == 199
    assert len(drawn) <= 8  # 0.2 to 0.5 s of asking, ten times a second


def test_what_is_slow_to_draw_waits_until_the_slider_rests():
    drawn = []
    latest = Latest(lambda: drawn.append(time.monotonic()), quiet=0.2)
    for _ in range(20):
        latest.ask()
        time.sleep(0.02)
    asked = time.monotonic()
    latest.settle()
    assert len(drawn) == 1 and drawn[0] > asked


def test_drawing_that_fails_tells_who_waits_for_it():
    def fail():
        raise ValueError("no font")

    latest = Latest(fail)
    latest.ask()
    with pytest.raises(ValueError, match="no font"):
        latest.settle()
    latest.settle()  # said once


def test_no_thread_stays_behind():
    latest = Latest(lambda: None)
    latest.ask()
    latest.settle()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pipekit-panel")]


def test_a_panel_shows_a_picture_where_no_kernel_is():
    bundle = Still()._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == b"\x89PNG picture"
    assert bundle["text/plain"] == "F0 F1 B1 B0"
    assert "application/vnd.jupyter.widget-view+json" in bundle
