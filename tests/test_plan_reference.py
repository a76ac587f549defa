"""`simulate` and `validate` against a slow model that shares no line with them.

The model knows a schedule only as lists of text ("2F0") and the law only as it is written here. It finds an op's end by
asking, recursively, for the ends it waits for.
"""

import re
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipekit.errors import ScheduleError
from pipekit.plan import Costs, Schedule, needs, simulate, validate

CASES = settings(max_examples=150, deadline=None, derandomize=True, database=None)


# -- the model


def law(lanes, early):
    """{op: what it waits for}, from the lanes' texts."""
    ops = {op for lane in lanes for op in lane}
    num_stages = 1 + max(int(re.split("[A-Z]", op)[0]) for op in ops)
    waits = {}
    for op in ops:
        stage, kind, piece = re.fullmatch(r"(\d+)([A-Z])(\d+)", op).groups()
        here = {k: f"{stage}{k}{piece}" for k in "FBIWR"}
        behind = f"{int(stage) + 1}{'I' if f'{int(stage) + 1}I{piece}' in ops else 'B'}{piece}"
        gradient = [behind] if int(stage) + 1 < num_stages else []
        kept = here["R"] if here["R"] in ops else here["F"]
        waits[op] = {
            "F": [f"{int(stage) - 1}F{piece}"] if stage != "0" else [],
            "R": [here["F"]] + ([] if early else gradient),
            "B": [kept, *gradient],
            "I": [kept, *gradient],
            "W": [here["I"]],
        }[kind]
    return waits


def longest_path(lanes, early, seconds, latency, transfer):
    """{op: (start, end)}; `seconds(op)` and `transfer(giver)` are functions of the op's text."""
    waits = law(lanes, early)
    device = {op: d for d, lane in enumerate(lanes) for op in lane}
    users = {giver: {device[op] for op in waits if giver in waits[op]} - {device[giver]} for giver in waits}

    @lru_cache(None)
    def end(op):
        return start(op) + seconds(op)

    @lru_cache(None)
    def start(op):
        lane = lanes[device[op]]
        before = lane[: lane.index(op)][-1:]
        times = [arrival(giver) if device[giver] != device[op] else end(giver) for giver in waits[op]]
        return max([0.0, *map(end, before), *times])

    @lru_cache(None)
    def sent(giver):
        lane = lanes[device[giver]]
        same_link = [op for op in lane[: lane.index(giver)] if users[op] & users[giver]]
        return max([end(giver), *map(sent, same_link[-1:])]) + transfer(giver)

    def arrival(giver):
        return sent(giver) + latency

    return {op: (start(op), end(op)) for op in waits}


def runs(lanes, early):
    """Does no op wait for itself? Takes away ops whose lane and law allow it until nothing moves."""
    waits = law(lanes, early)
    left, done = [list(lane) for lane in lanes], set()
    while any(moved := [lane for lane in left if lane and done.issuperset(waits[lane[0]])]):
        done.update(lane.pop(0) for lane in moved)
    return not any(left)


# -- random schedules that can run


def random_schedule(random):
    """Random stages, placement, pieces, split backwards and recomputes, in a random order that the law allows."""
    num_stages, num_pieces = int(random.integers(1, 6)), int(random.integers(1, 5))
    num_devices = int(random.integers(1, num_stages + 2))
    placement = random.integers(0, num_devices, num_stages).tolist()
    split, again, early = random.random(3) * random.integers(0, 2, 3)
    ops = []
    for stage in range(num_stages):
        for piece in range(num_pieces):
            kinds = "FIW" if random.random() < split else "FB"
            kinds += "R" if random.random() < again else ""
            ops += [f"{stage}{kind}{piece}" for kind in kinds]
    waits = law([ops], early > 0)
    lanes, done = [[] for _ in range(num_devices)], set()
    while len(done) < len(ops):
        op = str(random.choice([op for op in ops if op not in done and done.issuperset(waits[op])]))
        lanes[placement[int(re.split("[A-Z]", op)[0])]].append(op)
        done.add(op)
    return lanes, placement, early > 0


def make(lanes, placement, early):
    return Schedule([" ".join(lane) for lane in lanes], placement, "early" if early else "late")


@pytest.mark.parametrize("links", ["free", "latency", "serial"])
def test_simulate_agrees_with_the_longest_path(links):
    random = np.random.default_rng(["free", "latency", "serial"].index(links))
    for _ in range(80):
        lanes, placement, early = random_schedule(random)
        schedule = make(lanes, placement, early)
        num_stages, num_pieces = schedule.num_stages, schedule.num_micro_batches
        table = {kind: random.uniform(0, 3, num_stages) for kind in "FBIWR"}
        sizes = random.integers(1, 5, num_pieces)
        unit, overhead = float(random.uniform(1, 3)), float(random.uniform(0, 0.5))
        latency = 0.0 if links == "free" else float(random.uniform(0, 2))
        size_on_link = random.uniform(0, 4, num_stages)

        def split(op):
            stage, kind, piece = re.fullmatch(r"(\d+)([A-Z])(\d+)", op).groups()
            return int(stage), kind, int(piece)

        def seconds(op, table=table, sizes=sizes, unit=unit, overhead=overhead):
            stage, kind, piece = split(op)
            return overhead + table[kind][stage] * sizes[piece] / unit

        def transfer(op, bytes_of=size_on_link, sizes=sizes, unit=unit):
            stage, kind, piece = split(op)  # a gradient goes back over the cut before its stage
            return (
                bytes_of[stage if kind == "F" else stage - 1] * sizes[piece] / unit / 2
                if links == "serial"
                else 0.0
            )

        costs = Costs(
            forward=table["F"], backward=table["B"], recompute=table["R"], input_grad=table["I"], weight_grad=table["W"],
            overhead=overhead, latency=latency, unit_samples=unit,
            bandwidth=2 if links == "serial" else None, message_bytes=size_on_link,
        )  # fmt: skip
        expected = longest_path(lanes, early, seconds, latency, transfer)
        timeline = simulate(schedule, costs, sizes=sizes.tolist())
        assert len(timeline.spans) == len(expected)
        for span in timeline.spans:
            assert (span.start, span.end) == pytest.approx(expected[str(span.op)]), f"{span.op} in {schedule}"
            assert str(span.op) in lanes[span.device]


def test_needs_agrees_with_the_law_written_here():
    random = np.random.default_rng(3)
    for _ in range(40):
        lanes, placement, early = random_schedule(random)
        schedule = make(lanes, placement, early)
        waits = law(lanes, early)
        for lane in schedule.lanes:
            for op in lane:
                assert [str(needed) for needed in needs(op, schedule)] == waits[str(op)]


# -- broken schedules


def is_complete(lanes, placement):
    """Does every stage go once forward and once back (whole, or in its two halves) on every piece, at home?"""
    counts = Counter(op for lane in lanes for op in lane)
    pieces = 1 + max(int(re.split("[A-Z]", op)[1]) for op in counts)
    homes = [home if isinstance(home, tuple) else (home,) for home in placement]
    at_home = all(d in homes[int(re.split("[A-Z]", op)[0])] for d, lane in enumerate(lanes) for op in lane)
    lane_of = {re.sub("[A-Z]", "-", op): d for d, lane in enumerate(lanes) for op in lane}
    together = all(lane_of[re.sub("[A-Z]", "-", op)] == d for d, lane in enumerate(lanes) for op in lane)
    return (
        at_home
        and together
        and all(
            [counts[f"{stage}{kind}{piece}"] for kind in "FBIW"] in ([1, 1, 0, 0], [1, 0, 1, 1])
            and counts[f"{stage}R{piece}"] <= 1
            for stage in range(len(placement))
            for piece in range(pieces)
        )
    )


def check_reason(error, lanes, placement, early):
    """Every word of the refusal is true."""
    numbers, ops = error.numbers, [op for lane in lanes for op in lane]
    op = str(numbers.get("op"))
    if error.key == "missing_op":
        assert op not in ops
    elif error.key == "repeated_op":
        assert ops.count(op) == numbers["count"] > 1
    elif error.key == "both_backwards":
        here = f"{numbers['stage']}{{}}{numbers['micro_batch']}"
        assert here.format("B") in ops
        assert {here.format("I"), here.format("W")} & set(ops)
    elif error.key == "wrong_device":
        assert op in lanes[numbers["device"]]
        assert placement[numbers["stage"]] == numbers["expected"] != numbers["device"]
    else:
        assert error.key == "deadlock_cycle"
        assert not runs(lanes, early)
        check_cycle(numbers["chain"], lanes, early)


def check_cycle(chain, lanes, early):
    """`A waits for B, which stands behind C on device 1; C waits for ...`, until it comes back to A."""
    waits, links = law(lanes, early), chain.split("; ")
    parts = [
        re.fullmatch(r"(\w+) waits for (\w+)(?:, which stands behind (\w+) on device (\d+))?", link)
        for link in links
    ]
    assert all(parts), chain
    for part, following in zip(parts, parts[1:] + parts[:1], strict=True):
        op, wanted, blocker, device = part.groups()
        assert wanted in waits[op]
        assert following[1] == (
            blocker or wanted
        )  # the chain goes on where the wanted op is held up, and closes
        if blocker:
            lane = lanes[int(device)]
            assert lane.index(blocker) < lane.index(wanted)


def break_once(data, lanes):
    """Delete, repeat, swap, move or rename one op."""
    lanes = [list(lane) for lane in lanes]
    filled = [d for d, lane in enumerate(lanes) if lane]
    lane = lanes[data.draw(st.sampled_from(filled), label="lane")]
    at = data.draw(st.integers(0, len(lane) - 1), label="at")
    other = lanes[data.draw(st.integers(0, len(lanes) - 1), label="other lane")]
    to = data.draw(st.integers(0, len(other)), label="to")
    how = data.draw(st.sampled_from(["delete", "repeat", "swap", "move", "kind", "piece"]), label="how")
    if how == "delete" and sum(map(len, lanes)) > 1:
        del lane[at]
    elif how == "repeat":
        other.insert(to, lane[at])
    elif how == "swap":
        to = min(to, len(lane) - 1)
        lane[at], lane[to] = lane[to], lane[at]
    elif how == "move":
        op = lane.pop(at)
        other.insert(min(to, len(other)), op)
    elif how == "kind":
        lane[at] = re.sub("[A-Z]", data.draw(st.sampled_from("FBIWR"), label="kind"), lane[at])
    elif how == "piece":
        lane[at] = re.sub(r"\d+$", str(data.draw(st.integers(0, 5), label="piece")), lane[at])
    return lanes


@settings(CASES, max_examples=300)
@given(st.data())
def test_a_broken_schedule_is_refused_with_a_true_reason(data):
    random = np.random.default_rng(data.draw(st.integers(0, 10**6), label="seed"))
    lanes, placement, early = random_schedule(random)
    for _ in range(data.draw(st.integers(0, 2), label="faults")):
        lanes = break_once(data, lanes)
    schedule = make(lanes, placement, early)
    try:
        validate(schedule)
    except ScheduleError as error:
        check_reason(error, lanes, placement, early)
        with pytest.raises(ScheduleError, match=re.escape(str(error))):
            simulate(schedule, Costs())
    else:
        assert is_complete(lanes, placement)
        assert runs(lanes, early)
        simulate(schedule, Costs())


@CASES
@given(
    lanes=st.lists(
        st.lists(
            st.builds(
                "{}{}{}".format,
                st.integers(0, 3) | st.just(10**6),
                st.sampled_from("FFBBIWR"),
                st.integers(0, 3) | st.just(999_999),
            ),
            max_size=8,
        ),
        max_size=4,
    ),
    placement=st.none() | st.lists(st.integers(-2, 5), max_size=5),
)
def test_whatever_is_written_down_gets_an_answer(lanes, placement):
    try:
        validate(Schedule([" ".join(lane) for lane in lanes], placement))
    except ScheduleError as error:
        assert len(str(error)) < 2000
    else:
        assert is_complete(lanes, placement or Schedule(lanes).placement)


@settings(CASES, max_examples=60)
@given(st.text(alphabet="0129FBIWR| early\n", max_size=60))
def test_whatever_is_typed_gets_an_answer(text):
    try:
        validate(Schedule.from_text(text))
    except ScheduleError as error:
        assert error.key
