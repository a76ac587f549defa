"""The phone page as a pupil has it: a file on a phone without a network, played to its end by touch, mouse and keys."""

import json
import re

import pytest
from conftest import new_pages
from eyes import FAINT

from pipekit import plan
from pipekit.learn.phone.page import page as make_page
from pipekit.learn.phone.questions import decode
from pipekit.show.phone_words import WORDS

PHONE, LAPTOP = (360, 740), (1280, 720)
TABS = ("grid", "cards", "fill", "scratch", "exit")
TARGET = 44  # pixels
MOST_TABS = 120  # presses of the Tab key from anywhere to anywhere
SOON, MINUTE = 5_000, 60_000  # ms
LESSON = re.findall(r"A|\w\d", "AAAw1AAAw2AAAj2Aw3Aj1Aw3Aj0Aw3A")  # 15 steps computed
VIEWS = {  # an address for every look of the page
    "ask": "",
    "grid": "g=50&m=4&x=2",
    "both": "g=n&k=6&m=16&v=both",
    "cards": "tab=cards&cg=3&ct=9",
    "cards-ask": "tab=cards",
    "fill": "tab=fill&fcards=14&scards=1",
    "gpus": "tab=fill&f=gpus&fgpus=1234---.123",
    "scratch": "tab=scratch&sl=A-A-A-w1A-",
    "eight": "tab=scratch&sc=8",
    "exit": "tab=exit&q=BA-",
    "handed-in": "tab=exit&q=BAA&qd=1",
}
IMPOSSIBLE = [
    *("k=99&m=99", "tab=nowhere", "g=<b>", "cs=999&cm=7", "fx=9,9&tab=fill", "tab=scratch&sc=7&sl=A-w9"),
    *("q=XYZ&qd=1&tab=exit", "x=9999&g=n", "%E0%A4%A", "constructor=1&toString=1&__proto__=1"),
]
SMALL = """least => [...document.querySelectorAll('button, input[type=range], label.option')].filter(each => {
    const box = each.getBoundingClientRect();
    return box.width < least - 0.5 || box.height < least - 0.5;
}).map(each => [each.textContent || each.ariaLabel, each.getBoundingClientRect().width, each.getBoundingClientRect().height])"""
WIDE = """() => [...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > innerWidth + 1)
    .map(each => each.textContent.slice(0, 30))"""
CUT_OFF = """() => [...document.querySelectorAll('button, td, th, h1, h2, p')].filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => [each.textContent.slice(0, 30), each.scrollWidth, each.clientWidth])"""
LIES_BEFORE = """each => document.activeElement !== document.body && each.type !== 'radio'
    && Boolean(each.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING)"""
PRESSED = """(each, key) => each.dispatchEvent(
    new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }))"""  # whether the browser still has it
FOCUSED = """each => [each === document.activeElement, getComputedStyle(each).outlineStyle, each.type]"""
NAMELESS = """() => [...document.querySelectorAll('button, input, [role=img], [role=group], nav')].filter(each =>
    !(each.ariaLabel || each.textContent.trim() || each.closest('label'))).map(each => each.outerHTML.slice(0, 100))"""


class Pupil:
    """One hand on one page: `touch`, `mouse` or `keys`."""

    def __init__(self, page, lang: str, hand: str) -> None:
        self.page, self.lang, self.hand = page, lang, hand

    def say(self, key: str, **numbers) -> str:
        return WORDS[f"phone_{key}"][self.lang == "en"].format(**numbers)

    def open(self, file, address: str = "") -> None:
        self.page.goto("about:blank")
        self.page.goto(f"{file.as_uri()}#{address}")

    def press(self, what) -> None:
        """Press a thing, as this hand does."""
        if self.hand == "touch":
            what.tap(timeout=SOON)
        elif self.hand == "mouse":
            what.click(timeout=SOON)
        else:
            self.reach(what)
            self.page.keyboard.press("Space" if what.get_attribute("type") == "radio" else "Enter")

    def reach(self, what) -> None:
        """Go there with the Tab key, by the shorter way, and see where one is; radios are entered at the first."""
        key = "Shift+Tab" if what.evaluate(LIES_BEFORE, timeout=SOON) else "Tab"
        for _ in range(MOST_TABS):
            here, outline, kind = what.evaluate(FOCUSED)
            if here:
                assert outline != "none" or kind == "radio", what
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"no way by {key} to {what}")

    def button(self, key: str, **numbers):
        return self.page.get_by_role("button", name=self.say(key, **numbers), exact=True)

    def tab(self, name: str) -> None:
        self.press(self.button(f"tab_{name}"))

    def text(self) -> str:
        return self.page.locator("#view").inner_text()

    def row(self, key: str) -> list[str]:
        """The numbers of a line of the table of figures."""
        cells = self.page.locator(".figures tr", has_text=self.say(key)).locator("td")
        return cells.all_inner_texts()[1:]

    def said(self) -> str:
        return self.page.locator(".said").last.inner_text()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The page in each language, as a file with Chinese and a space in its name."""
    folder = tmp_path_factory.mktemp("手机 page")
    for lang in ("zh", "en"):
        (folder / f"{lang}.html").write_text(make_page(lang), encoding="utf-8")
    return folder


@pytest.fixture
def pupil(chromium, files):
    """A function that gives a page to a hand; it has no network, and whatever it asks for but the file is a failure."""
    requests = []
    with new_pages(chromium) as new:

        def give(lang: str, hand: str, size, address: str = "") -> Pupil:
            page = new(*size, offline=True, has_touch=hand == "touch", is_mobile=hand == "touch")
            page.on("request", lambda request: requests.append(request.url))
            page.clock.install()  # what plays needs no waiting for
            one = Pupil(page, lang, hand)
            one.open(files / f"{lang}.html", address)
            return one

        yield give
    asked = {url.partition("#")[0] for url in requests}
    assert asked <= {(files / f"{lang}.html").as_uri() for lang in ("zh", "en", "told")} | {
        "data:,",
        "about:blank",
    }


HANDS = [
    pytest.param("zh", "touch", PHONE),
    pytest.param("zh", "mouse", LAPTOP, marks=pytest.mark.slow),
    pytest.param("zh", "keys", LAPTOP),
    pytest.param("en", "touch", PHONE, marks=pytest.mark.slow),
    pytest.param("en", "mouse", LAPTOP),
    pytest.param("en", "keys", LAPTOP, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("lang", "hand", "size"), HANDS)
def test_every_activity_is_played_to_its_end(pupil, files, screenshot, lang, hand, size):
    one = pupil(lang, hand, size)
    guess_and_move(one)
    hand_cards_on(one)
    fill_in(one)
    use_scratch_paper(one)
    screenshot(one, f"phone-{hand}-scratch")
    code = answer_three_questions(one)
    screenshot(one, f"phone-{hand}-code")
    assert decode(code) == "BAA"
    one.page.clock.run_for(MINUTE)  # the address follows a little later
    address = one.page.evaluate("() => location.hash.slice(1)")
    one.open(files / f"{lang}.html", address)
    assert one.page.locator(".code").inner_text() == code  # what was done is in the address, and nowhere else
    assert one.page.evaluate("() => [document.cookie, localStorage.length, sessionStorage.length]") == [
        "",
        0,
        0,
    ]


def guess_and_move(one: Pupil) -> None:
    """The guess comes first; then every number is plan's."""
    assert "42.9" not in one.text() and one.page.locator("input[type=range]").count() == 0
    field = one.page.locator("#guess")
    one.press(field) if one.hand != "keys" else one.reach(field)
    one.page.keyboard.type("abc")
    one.press(one.button("guessed"))
    assert one.said() == one.say("grid_guess_bad")
    field.fill("")
    one.press(field) if one.hand != "keys" else one.reach(field)
    one.page.keyboard.type("50")
    one.page.keyboard.press("Enter") if one.hand == "keys" else one.press(one.button("guessed"))
    assert one.row("idle_share")[0] == "42.9%"
    assert (
        one.say("first_try", guess="50", predicted="42.9%", measured=one.row("idle_share")[1]) in one.text()
    )
    assert abs(float(one.row("idle_share")[1].rstrip("%")) - 42.9) < 1
    for num_stages, num_micro_batches in ((4, 8), (6, 8), (6, 16), (2, 16)):
        turn(one, "stages", num_stages)
        turn(one, "pieces", num_micro_batches)
        for view, kinds in (("forward", "F"), ("both", "FB")):
            one.press(one.button(view))
            timeline = plan.simulate(plan.gpipe(num_stages, num_micro_batches), plan.Costs()).only(*kinds)
            assert one.row("idle_share")[0] == f"{plan.bubble_fraction(timeline):.1%}"
            assert one.row("busy")[0] == f"{plan.busy_devices(timeline):.2f}"
            assert one.row("time")[0] == one.say("slots", count=round(timeline.makespan))
    one.press(one.button("next_slot"))
    one.press(one.button("next_slot"))
    first, second = (WORDS["phone_does_F"][one.lang == "en"].format(piece=piece) for piece in (2, 1))
    assert first in one.said() and second in one.said()


def turn(one: Pupil, key: str, count: int) -> None:
    """Move a slider to a number: with the arrow keys, or with the buttons beside it."""
    slider = one.page.get_by_role("slider", name=one.say(key), exact=True)
    while (now := int(slider.input_value())) != count:
        if one.hand == "keys":
            one.reach(slider)
            one.page.keyboard.press("ArrowRight" if now < count else "ArrowLeft")
        else:
            one.press(one.button("more" if now < count else "less", name=one.say(key)))


def hand_cards_on(one: Pupil) -> None:
    one.tab("cards")
    assert "14" not in one.text()
    one.press(one.button("cards_way_12"))
    assert one.page.locator(".said.good").inner_text() == one.say("cards_guess_right")
    for cards_a_piece, first, done in ((12, 24, 36), (4, 8, 20), (1, 2, 14)):
        one.press(one.button("cards_piece", count=cards_a_piece))
        assert one.row("cards_first") == [one.say("cards_at", count=first)]
        assert one.row("cards_done") == [one.say("cards_at", count=done)]
    one.press(one.button("play"))
    one.page.clock.run_for(MINUTE)
    assert one.said().endswith(one.say("cards_over"))
    for who, seconds in (("A", 2), ("C", 4)):
        group = one.page.get_by_role("group", name=one.say("cards_speed", who=who), exact=True)
        one.press(group.get_by_role("button", name=one.say("cards_seconds", count=seconds), exact=True))
    assert [one.row("cards_first"), one.row("cards_done")] == [
        [one.say("cards_at", count=each)] for each in (3, 51)
    ]


def fill_in(one: Pupil) -> None:
    one.tab("fill")
    for name, rows in (
        ("cards", ["123--", "-123-", "--123"]),
        ("gpus", ["1234---", "-1234--", "--1234-", "---1234"]),
    ):
        one.press(one.button(f"fill_{name}"))
        put(one, "3")  # too early: there is a reason, and the cell stays
        assert one.page.locator(".said.bad").inner_text() == one.say("fill_one_at_a_time", piece=3)
        one.press(one.button("again"))
        assert one.said() == one.say("fill_how")
        put(one, "3")
        for answer in "".join(rows)[1:]:
            put(one, answer)
        good = one.page.locator(".said.good")
        good.wait_for(timeout=SOON)
        busy, width = sum(each != "-" for row in rows for each in row), len("".join(rows))
        share = {"cards": "40%", "gpus": "43%"}[name]
        assert good.inner_text() == one.say("fill_all", busy=busy, idle=width - busy, bubble=share, slips=1)


def put(one: Pupil, answer: str) -> None:
    """Fill the chosen cell, which goes on by itself."""
    if one.hand == "keys":
        cell = one.page.locator(".sheet [aria-pressed=true]")
        if not cell.evaluate("each => each === document.activeElement"):
            one.reach(cell)
        one.page.keyboard.press(answer)
    else:
        name = one.say("fill_idle") if answer == "-" else one.say("fill_piece", piece=answer)
        one.press(one.page.locator(".line .group").get_by_role("button", name=name, exact=True))


def use_scratch_paper(one: Pupil) -> None:
    """The lesson's own way with three cells, 15; then the best is shown: 14."""
    one.tab("scratch")
    for move in LESSON:
        one.press(one.page.locator(f"[data-key={'ahead' if move == 'A' else move}]"))
    assert one.say("scratch_count", count=15) in one.text()
    assert one.say("scratch_lesson", count=15, optimum=14) in one.text()
    one.press(one.button("undo"))
    assert one.say("scratch_count", count=14) in one.text()
    one.press(one.button("scratch_show"))
    one.page.clock.run_for(MINUTE)
    assert one.said() == one.say("scratch_optimum", count=14, cells=3)


def answer_three_questions(one: Pupil) -> str:
    one.tab("exit")
    hand_in = one.button("exit_hand_in")
    for number, letter in enumerate("BAA"):
        assert hand_in.is_disabled()
        radios = one.page.locator(f"input[name=q{number}]")
        if one.hand == "keys":
            one.reach(radios.first)
            one.page.keyboard.press("Space")
            for _ in range("ABCD".index(letter)):
                one.page.keyboard.press("ArrowDown")
        else:
            one.press(one.page.locator("label.option").nth(4 * number + "ABCD".index(letter)))
    one.press(hand_in)
    words = one.page.locator(".said").all_inner_texts()
    assert [each.startswith(one.say("exit_good")) for each in words] == [True, False, True]
    return one.page.locator(".code").inner_text()


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.slow)])
def test_every_view_fits_a_phone_for_fingers_and_eyes(pupil, files, screenshot, lang):
    one = pupil(lang, "touch", PHONE)
    for name, address in VIEWS.items():
        one.open(files / f"{lang}.html", address)
        for what, found in {
            "too small for a finger": one.page.evaluate(SMALL, TARGET),
            "wider than the phone": one.page.evaluate(WIDE),
            "cut off": one.page.evaluate(CUT_OFF),
            "without a name": one.page.evaluate(NAMELESS),
            "too faint": one.page.evaluate(FAINT.replace(".pipekit-room", "body"), 4.5),
        }.items():
            assert found == [], (name, what, found)
        screenshot(one, f"phone-{name}")


def test_at_twice_the_size_nothing_is_lost(pupil, files):
    one = pupil("zh", "mouse", (180, 370))  # 200 % on a phone
    for name, address in VIEWS.items():
        one.open(files / "zh.html", address)
        assert one.page.evaluate("() => document.documentElement.scrollWidth") <= 360, name


def test_the_page_computes_nothing_it_shows_what_the_tables_say(pupil, files):
    html = (files / "zh.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])
    grid = data["predicted"]["4,4"]["forward"]
    grid.update(bubble="12.3%", busy="9.87", slots=8, rows=[[["F", 7, 0, 8]]] * 4)
    data["cards"]["111+0"]["ways"]["3"].update(first=77, done=88)
    data["scratch"]["values"][1] = 999
    data["puzzles"]["cards"]["answers"][0][1] = "3"
    data["exit"]["codes"]["BCA"] = "ZZZ2"
    data["measured"]["4,8"].update(date="2031-02-03", machine="Abacus")
    told = re.sub(
        r'(id="data">).*?(</script>)', lambda found: found[1] + json.dumps(data) + found[2], html, flags=re.S
    )
    (files / "told.html").write_text(told, encoding="utf-8")
    one = pupil("zh", "mouse", LAPTOP)
    looks = {"g=n&m=4": ["12.3%", "9.87", "8 格"], "g=n&m=8": ["2031-02-03", "Abacus"], "tab=cards&cg=n": ["第 77 秒", "第 88 秒"], "tab=scratch&sl=A-": ["999"],
             "tab=fill&fcards=.3": ["还有 13 格"], "tab=exit&q=BCA&qd=1": ["ZZZ2"]}  # fmt: skip
    for address, words in looks.items():
        one.open(files / "told.html", address)
        for each in words:
            assert each in one.text(), (address, each)


def test_a_digit_held_with_another_key_is_the_browsers_and_no_answer(pupil, files):
    """Ctrl and a digit goes to another tab of the browser, Alt and an arrow to the page before."""
    one = pupil("en", "keys", LAPTOP)
    one.open(files / "en.html", "tab=fill")
    cell = one.page.locator(".sheet [aria-pressed=true]")
    cell.focus()
    where = cell.get_attribute("id")
    for held in ("ctrlKey", "metaKey", "altKey"):
        for key in ("2", "0", "ArrowRight"):
            kept = cell.evaluate(PRESSED, {"key": key, held: True})
            assert (kept, cell.get_attribute("id"), one.said()) == (True, where, one.say("fill_how")), (
                held,
                key,
            )
    cell.evaluate(PRESSED, {"key": "2"})
    assert one.said() == one.say("fill_right_first", who="A")


def test_an_enter_that_ends_a_word_of_an_input_method_is_no_guess(pupil, files):
    one = pupil("zh", "keys", LAPTOP)
    one.open(files / "zh.html")
    field = one.page.locator("#guess")
    field.fill("5")
    for composing in ({"isComposing": True}, {"keyCode": 229}):
        field.evaluate(PRESSED, {"key": "Enter", **composing})
        assert one.page.locator("input[type=range]").count() == 0
    field.evaluate(PRESSED, {"key": "Enter"})
    assert one.page.locator("input[type=range]").count() == 2


def test_an_address_that_cannot_be_is_not_believed(pupil, files):
    one = pupil("zh", "mouse", PHONE)
    for address in IMPOSSIBLE:
        one.open(files / "zh.html", address)
        assert one.page.locator("nav button[aria-current]").count() == 1 and one.text(), address
