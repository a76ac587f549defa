"""Panels: errors come back to whoever waits, one run at a time, few drawings, a picture without a kernel."""

import base64
import threading
import time
from types import SimpleNamespace

import ipywidgets
import pytest

from pipekit.show import Latest, Panel, Run, panel
from pipekit.show.panel import Probe


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


def test_who_waits_for_a_drawing_waits_for_no_pause():
    drawn = []
    latest = Latest(lambda: drawn.append(time.monotonic()), every=60.0)
    latest.ask()
    while not drawn:
        time.sleep(0.01)
    latest.ask()
    latest.settle()
    assert len(drawn) == 2 and drawn[1] - drawn[0] < 30
    slow = Latest(lambda: drawn.append(time.monotonic()), quiet=60.0)
    slow.ask()
    slow.settle()
    assert len(drawn) == 3 and drawn[2] - drawn[1] < 30


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


def test_ipywidgets_7_would_display_past_the_picture_and_is_not_asked():
    assert Still()._ipython_display_ is None


# -- does the page hear threads?


def until(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


@pytest.fixture
def probe():
    said = []
    made = Probe(lambda: said.append("deaf"), patience=0.2)
    return SimpleNamespace(made=made, said=said)


def test_a_probe_asks_from_both_threads(probe):
    askers = {}
    for who, widget in probe.made.sent.items():
        widget.observe(lambda change, who=who: askers.update({who: threading.current_thread()}), "value")
    probe.made.start()
    assert askers["main"] is threading.main_thread()
    assert askers["thread"] is not threading.main_thread()
    assert [type(link).__name__ for link in probe.made.links] == ["Link", "Link"]  # they live in the page


@pytest.mark.parametrize("order", [("main", "thread"), ("thread", "main")])
def test_a_page_that_echoes_both_hears_threads(probe, order):
    probe.made.start()
    for who in order:
        probe.made.echo[who].value = 1
    time.sleep(0.4)
    assert probe.said == []


def test_a_page_that_echoes_only_the_main_thread_is_deaf_to_threads(probe):
    probe.made.start()
    probe.made.echo["main"].value = 1
    assert probe.said == []  # the other echo may still come
    assert until(lambda: probe.said == ["deaf"])


def test_without_any_echo_there_is_no_page_and_nothing_to_decide(probe):
    probe.made.start()
    time.sleep(0.4)
    assert probe.said == []


@pytest.fixture
def quick_probe(monkeypatch):
    monkeypatch.setattr(panel, "Probe", lambda deaf: Probe(deaf, patience=0.05))


def test_the_first_display_finds_out_and_a_deaf_page_is_served_in_the_foreground(quick_probe):
    still = Still()
    assert not still.foreground
    still._repr_mimebundle_()
    first = still._probe
    still._repr_mimebundle_()
    assert still._probe is first
    first.echo["main"].value = 1
    assert until(lambda: still.foreground)


def test_a_page_that_hears_threads_is_served_in_the_background(quick_probe):
    still = Still()
    still._repr_mimebundle_()
    for echo in still._probe.echo.values():
        echo.value = 1
    time.sleep(0.2)
    assert not still.foreground


def test_a_display_from_a_thread_asks_nothing():
    still = Still()
    thread = threading.Thread(target=still._repr_mimebundle_)
    thread.start()
    thread.join()
    assert still._probe is None


# -- in the foreground


@pytest.fixture
def heard(monkeypatch):
    """What a page hears that is deaf to threads: (widget's model, state), in order."""
    arrived = []

    def send(widget, message, buffers=None):
        if threading.current_thread() is threading.main_thread() and message.get("method") == "update":
            arrived.append((widget.model_id, message["state"]))

    monkeypatch.setattr(ipywidgets.Widget, "_send", send)
    return arrived


@pytest.fixture
def counter():
    made = Still((ipywidgets.IntText(), ipywidgets.HTML()))
    made.foreground = True
    return made


def count_to(last, words, pause=0.1):
    def work(run):
        for value in range(1, last + 1):
            if run.stopping:
                return "stopped"
            words.children[0].value = value
            time.sleep(pause)
        words.children[1].value = "there"
        return "counted"

    return work


def test_in_the_foreground_starting_waits_for_the_end(counter, heard):
    run = counter.start(count_to(2, counter))
    assert run.done and run.result == "counted"


def test_in_the_foreground_the_page_hears_what_threads_have_set(counter, heard):
    counter.start(count_to(8, counter))
    number, words = counter.children
    values = [state["value"] for model, state in heard if model == number.model_id and "value" in state]
    assert values == sorted(values) and values[-1] == 8
    assert len(values) >= 3  # on the way, not only at the end
    assert [state["value"] for model, state in heard if model == words.model_id][-1] == "there"


def test_in_the_foreground_the_page_hears_even_what_came_after_the_last_look(counter, heard, monkeypatch):
    looked, sent = threading.Event(), counter.send_moving

    def work(run):
        looked.wait(5)
        counter.children[0].value = 7

    def send_then_let_it_end():
        sent()
        if not looked.is_set():
            looked.set()
            until(lambda: counter.current.done)

    monkeypatch.setattr(counter, "send_moving", send_then_let_it_end)
    counter.start(work)
    number = counter.children[0].model_id
    assert [state["value"] for model, state in heard if model == number][-1] == 7


def test_in_the_foreground_only_what_has_changed_is_sent_again(counter, heard):
    counter.start(count_to(1, counter))
    heard.clear()
    counter.send_moving()
    assert heard == []
    counter.start(count_to(2, counter))
    number = counter.children[0].model_id
    assert {tuple(state) for model, state in heard if model == number} == {("value",)}


def test_in_the_background_a_page_deaf_to_threads_would_hear_nothing(counter, heard):
    counter.foreground = False
    counter.start(count_to(2, counter))
    counter.wait(timeout=5)
    assert heard == []


def test_interrupting_the_kernel_cancels_what_runs_in_the_foreground(counter, monkeypatch):
    asked = iter([KeyboardInterrupt()])
    sleep = time.sleep

    def interrupted(seconds):
        if threading.current_thread() is threading.main_thread():
            for error in asked:
                raise error
        sleep(seconds)

    monkeypatch.setattr(panel, "time", SimpleNamespace(sleep=interrupted, monotonic=time.monotonic))
    run = counter.start(count_to(1000, counter))
    assert run.done and run.result == "stopped"


def test_an_error_in_the_foreground_comes_back_to_who_waits(counter):
    def fail(run):
        raise ValueError("3 layers")

    counter.start(fail)
    with pytest.raises(ValueError, match="3 layers"):
        counter.wait(timeout=5)


def test_two_presses_on_two_threads_leave_one_run_that_can_be_stopped(monkeypatch):
    panel = Still()
    runs, meet = [], threading.Barrier(2)

    def press():
        meet.wait(5)
        runs.append(panel.start(lambda run: run.stop.wait(10)))

    def slow_stop(timeout=10.0):
        Panel.stop(panel, timeout)
        time.sleep(0.1)

    monkeypatch.setattr(panel, "stop", slow_stop)
    presses = [threading.Thread(target=press) for _ in range(2)]
    for each in presses:
        each.start()
    for each in presses:
        each.join()
    try:
        assert sum(not run.done for run in runs) == 1
        panel.stop()
        assert all(run.done for run in runs)
    finally:
        for run in runs:
            run.cancel()
