"""A picture that lives: a panel with a static fallback, work in the background, and drawing at most ten times a second.

Widget callbacks run on whatever thread the front end chooses (JupyterLab 4.6: a subshell's, or the main one), so a
panel draws under its own lock, and nothing here touches pyplot, prints from a thread, or uses an Output widget.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import ipywidgets

from pipekit.show.still import bundle

T = TypeVar("T")
SLICE = 0.05  # seconds between two looks at a run that somebody waits for
DRAW_EVERY = 0.1  # seconds
SEND_EVERY = 0.2  # seconds; in the foreground
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Run(Generic[T]):
    """Work in a thread of its own.

    Args:
        work: called with this run; it looks at `run.stopping` and returns the result.
        on_cancel: called by `cancel`, to wake work that can't look.

    `wait()` gives the result or raises what went wrong, so that a notebook cell (and nbval) sees it.
    """

    def __init__(self, work: Callable[[Run[T]], T], on_cancel: Callable[[], None] | None = None) -> None:
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self.result: T | None = None
        self.on_cancel = on_cancel
        self._work = work
        # Not a daemon: one that still draws or computes while Python ends brings the process down. It ends by itself.
        self._thread = threading.Thread(target=self._main, name="pipekit-panel-run")
        self._ended = threading.Event()

    def start(self) -> Run[T]:
        """Begin."""
        self._thread.start()
        return self

    @property
    def done(self) -> bool:
        """Whether it has ended, well or badly."""
        return self._ended.is_set()

    @property
    def stopping(self) -> bool:
        """Whether the work shall end: it was cancelled, or Python itself is about to end."""
        return self.stop.is_set() or not threading.main_thread().is_alive()

    def cancel(self) -> None:
        """Ask it to stop; returns at once."""
        self.stop.set()
        if self.on_cancel is not None:
            self.on_cancel()

    def wait(self, timeout: float | None = None) -> T:
        """Wait for the end and return the result.

        Raises:
            TimeoutError: it still runs after `timeout` seconds.
            Whatever the work raised. Interrupting the wait (Ctrl-C, the kernel's stop) cancels the work.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            # In slices, and not Thread.join: a join hit by Ctrl-C reports a running thread dead.
            while not self._ended.wait(SLICE):
                if deadline is not None and time.monotonic() > deadline:
                    raise TimeoutError(f"the run has not ended after {timeout:g} s")
        except KeyboardInterrupt:
            self.cancel()
            self._ended.wait(10)
            raise
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # without an error there is a result

    def _main(self) -> None:
        try:
            self.result = self._work(self)
        except BaseException as error:  # kept for wait(), which raises it where somebody looks
            self.error = error
        finally:
            self._ended.set()


class Latest:
    """Draws in the background, by default at most ten times a second; of many requests only the latest counts.

    A thread lives only while there is something to draw.

    Args:
        quiet: seconds without a new request before it draws; what is slow to draw stays out of a moving slider's way.
        every: seconds between two drawings.
    """

    def __init__(self, draw: Callable[[], None], quiet: float = 0.0, every: float = DRAW_EVERY) -> None:
        self._draw, self._quiet, self._every = draw, quiet, every
        self._lock = threading.Lock()
        self._asked = False
        self._hurry = threading.Event()  # somebody waits: no pauses now
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def ask(self) -> None:
        """Have it drawn soon. Costs next to nothing, so that a worker may call it."""
        with self._lock:
            self._asked = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._main, name="pipekit-panel-draw")
                self._thread.start()

    def settle(self) -> None:
        """Have everything asked for drawn now, and wait for it; raises what went wrong in drawing."""
        self._hurry.set()
        while (thread := self._thread) is not None:
            thread.join(SLICE)
        self._hurry.clear()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _main(self) -> None:
        while self._wanted():
            while self._quiet:
                self._hurry.wait(self._quiet)
                if not self._asked:
                    break
                self._asked = False
            try:
                self._draw()
            except Exception as error:  # kept for settle(); a thread has nobody to tell
                self._error = error
            self._hurry.wait(self._every)

    def _wanted(self) -> bool:
        with self._lock:
            wanted, self._asked = self._asked, False
            if not wanted:
                self._thread = None
            return wanted


class Probe:
    """Does the page hear what threads send? Asked twice, from a thread and from the main one; the page answers both.

    Two numbers are linked in the page, so a number that arrives there comes back as its echo. Where only the main
    thread's echo comes, threads aren't heard. No echo at all means that no page is there.

    Args:
        deaf: called, in a thread, where the page doesn't hear threads.
        patience: seconds that the thread's echo may come later than the main thread's.
    """

    def __init__(self, deaf: Callable[[], None], patience: float = 3.0) -> None:
        self._deaf, self._patience = deaf, patience
        self.sent = {who: ipywidgets.IntText() for who in ("main", "thread")}
        self.echo = {who: ipywidgets.IntText() for who in self.sent}
        self.links = [
            ipywidgets.jslink((self.sent[who], "value"), (self.echo[who], "value")) for who in self.sent
        ]
        self.heard = {who: threading.Event() for who in self.sent}
        for who, widget in self.echo.items():
            widget.observe(lambda change, who=who: self._hear(who), "value")

    def start(self) -> None:
        """Ask; the answer comes when it comes."""
        self.sent["main"].value = 1
        asking = threading.Thread(
            target=lambda: setattr(self.sent["thread"], "value", 1), name="pipekit-probe"
        )
        asking.start()
        asking.join()

    def _hear(self, who: str) -> None:
        self.heard[who].set()
        if who == "main":
            timer = threading.Timer(self._patience, self._decide)
            timer.daemon = True
            timer.start()

    def _decide(self) -> None:
        if not self.heard["thread"].is_set():
            self._deaf()


class Panel(ipywidgets.VBox):
    """A widget that shows a picture even where no kernel is: on GitHub, in HTML, in an e-mail.

    A subclass says what by `picture_png` and `picture_text`. `lock` guards its state and its drawing.

    Some hosted notebooks drop what threads send to the page. There a panel works in the foreground (`foreground`):
    `start` returns when the work has ended, and meanwhile sends, from the cell's own thread, what `moving` widgets
    have become. Which it is, the first display finds out.
    """

    def __init__(self, children: tuple[ipywidgets.Widget, ...] = (), **traits: Any) -> None:
        self.lock = threading.RLock()
        self._start_lock = threading.Lock()
        self.current: Run[Any] | None = None
        self.foreground = False
        self._sent: dict[tuple[str, str], Any] = {}
        self._probe: Probe | None = None
        super().__init__(children, **traits)

    def moving(self) -> list[ipywidgets.Widget]:
        """The widgets that change while something runs, or by its end."""
        return list(self.children)

    @abstractmethod
    def picture_png(self) -> bytes:
        """What the panel shows, as PNG."""

    @abstractmethod
    def picture_text(self) -> str:
        """What the panel shows, in words and letters."""

    def start(self, work: Callable[[Run[T]], T], on_cancel: Callable[[], None] | None = None) -> Run[T]:
        """Run work in the background; a run that is still going is cancelled first, and waited for.

        In the foreground it returns when the work has ended; interrupting the kernel cancels it.
        """
        with self._start_lock:  # two presses may come on two threads: one run nobody could stop any more
            self.stop()
            run = Run(work, on_cancel)
            self.current = run
            run.start()
        if self.foreground:
            self._attend(run)
        return run

    def _attend(self, run: Run[Any]) -> None:
        """Send what has changed, from this thread, until the run has ended."""
        while not run.done:
            try:
                time.sleep(SEND_EVERY)
                self.send_moving()
            except KeyboardInterrupt:
                run.cancel()
        self.send_moving()

    def send_moving(self) -> None:
        """Send what has changed in the moving widgets since the last time."""
        for widget in self.moving():
            state = widget.get_state()
            changed = [
                key for key, value in state.items() if self._sent.get((widget.model_id, key), self) != value
            ]
            if changed:
                self._sent.update({(widget.model_id, key): state[key] for key in changed})
                widget.send_state(changed)

    def _found_deaf(self) -> None:
        """The page doesn't hear threads."""
        self.foreground = True

    def stop(self, timeout: float = 10.0) -> None:
        """Cancel what runs, and wait until it has ended."""
        run = self.current
        if run is None or run.done:
            return
        run.cancel()
        deadline = time.monotonic() + timeout
        while not run.done and time.monotonic() < deadline:
            time.sleep(SLICE / 5)

    def wait(self, timeout: float | None = None) -> Any:
        """Wait for what runs and return its result; raises what went wrong. None if nothing was started."""
        return None if self.current is None else self.current.wait(timeout)

    def _ask_page(self) -> None:
        """At the first display in the main thread, find out whether the page hears threads."""
        if self._probe is None and threading.current_thread() is threading.main_thread():
            self._probe = Probe(self._found_deaf)
            self._probe.start()

    _ipython_display_ = None  # ipywidgets 7 displays by this hook, past the bundle; IPython passes over None

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # Not the base class's with more in it: in ipywidgets 7 that has none.
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        self._ask_page()
        with self.lock:
            return {
                WIDGET_VIEW: view,
                **bundle(self.picture_png(), self.picture_text()),
            }
