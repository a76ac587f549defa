"""The comparison: equal work, closed forms that hold, the best under a cap, rows that say why, what was really measured."""

import contextlib
import csv
import io
import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from pipekit import plan
from pipekit.errors import Cancelled, PipekitError, ScheduleError, SweepError
from pipekit.learn import ComparisonPanel
from pipekit.learn.comparison import best, dense, measuring, pictures, sentences, tables
from pipekit.learn.comparison.best import best_under, candidates, pieces
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import KNOWN, Variant
from pipekit.learn.comparison.closed_forms import FORMS, closed_form
from pipekit.learn.comparison.panel import FIRST
from pipekit.learn.comparison.rows import Figures, Measured, Row, row, rows
from pipekit.show import FILLS, LANGUAGES, say
from pipekit.show.grid import IDLE

VIEWS = ("class", "engineer")
EVERY = list(itertools.product(LANGUAGES, VIEWS))
LESSON = Case(num_devices=4, num_micro_batches=8)


@pytest.fixture
def make():
    made = []

    def panel(lang="en", view="engineer", **knobs):
        small = {"num_devices": 2, "num_micro_batches": 2, "schedules": ["gpipe", "1f1b"]}
        made.append(ComparisonPanel(lang, view, **{**small, **knobs}))
        return made[-1]

    yield panel
    for each in made:
        each.stop()
        each.settle()


def of(name, num_chunks=2, checkpoint="never"):
    return Variant.of(name, num_chunks, checkpoint)


def test_every_schedule_can_be_compared():
    assert list(KNOWN) == ["naive", *plan.SCHEDULES]


# -- the same work


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("pieces_", [8, 16])
def test_every_schedule_does_the_same_work(name, pieces_):
    case = Case(4, 8, forward=1.0, input_grad=1.5, weight_grad=0.75, slow_part=2, slow_factor=3.0)
    schedule = of(name).build(4, pieces_)
    work = plan.busy_time(case.simulate(schedule)).sum()
    assert work == pytest.approx(8 * (1.0 + 1.5 + 0.75) * (1 + 1 + 3 + 1))


def test_a_slow_part_of_the_model_is_spread_where_a_device_has_several_stages():
    case = Case(2, 4, slow_part=1, slow_factor=2.0)
    interleaved = plan.Schedule(["0F0 2F0 2B0 0B0", "1F0 3F0 3B0 1B0"])
    assert case.costs(interleaved).forward == [2.0, 2.0, 4.0, 4.0]
    assert plan.busy_time(case.simulate(interleaved)).tolist() == [18.0, 18.0]


def test_a_slow_part_that_is_not_there_slows_nothing():
    assert Case(2, slow_part=5).even and not Case(2, slow_part=1).even


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("naive", 8), ("gpipe", 8), ("1f1b", 4), ("interleaved_1f1b", 5.5), ("looped_bfs", 8), ("zb_h1", 4),
        ("zb_h2", 7), ("zb_v", 4), ("dualpipe", 5), ("dualpipe_v", 4.5), ("chimera", 4),
    ],
)  # fmt: skip
def test_memory_counts_a_devices_share_of_a_micro_batch_as_one(name, peak):
    assert row(LESSON, of(name)).prediction.peak == pytest.approx(peak)


def test_a_micro_batch_of_half_the_size_keeps_half_and_a_recomputed_one_its_input():
    assert row(LESSON, of("1f1b"), 16).prediction.peak == pytest.approx(2)
    assert row(LESSON, of("gpipe", checkpoint="always")).prediction.peak == pytest.approx(8 * 0.1 + 0.9)


# -- closed forms

COSTS = [
    (1, 1, 1, 1),
    (1, 1.5, 0.5, 1),
    (2, 3, 1, 2),
    (1, 1, 0.5, 0.5),
    (1, 0.5, 0.5, 2),
    (0.7, 1.9, 2.5, 0.3),
]
HOPS = [(0, 0, -1), (0, 0, -1), (0.3, 0, -1), (0, 0.25, -1), (0.2, 0.1, 0)]  # latency, overhead, slow part
ENOUGH = 40


def random_cases(name):
    """Cases and variants of one schedule that it can serve, without end; K from 1, M also below it."""
    random = np.random.default_rng(len(name))
    while True:
        f, i, w, r = COSTS[random.integers(len(COSTS))]
        k, m = int(random.integers(1, 7)), int(random.integers(1, 17))
        case = Case(k, m, f, i, w, r, *HOPS[random.integers(len(HOPS))])
        variant = of(name, int(random.integers(1, 4)), plan.CHECKPOINTS[random.integers(3)])
        with contextlib.suppress(ScheduleError):
            yield case, variant, variant.build(k, m)


@pytest.mark.parametrize("name", KNOWN)
def test_where_there_is_a_closed_form_it_is_what_simulate_says(name):
    held = 0
    for case, variant, schedule in itertools.islice(random_cases(name), 40 * ENOUGH):
        form = closed_form(case, variant, schedule)
        if form is None:
            continue
        held += 1
        timeline = case.simulate(schedule)
        if form.makespan is not None:
            assert form.makespan == pytest.approx(timeline.makespan), (case, variant)
        if form.span_bubble is not None:
            assert form.span_bubble == pytest.approx(plan.span_bubble(timeline), abs=1e-9), (case, variant)
        if held == ENOUGH:
            return
    pytest.fail(f"{held} of {ENOUGH} cases had a closed form")
    raise AssertionError(f"only {held} cases have a closed form")


def test_every_schedule_has_its_place_among_the_closed_forms():
    assert FORMS.keys() == KNOWN.keys()


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("1f1b", Case(4, 8, slow_part=1)),
        ("interleaved_1f1b", Case(4, 8, latency=0.5)),
        ("zb_h1", Case(4, 3)),
        ("zb_h1", Case(4, 8, weight_grad=2.0)),
        ("zb_v", Case(4, 6)),
        ("chimera", Case(4, 8)),
        ("chimera", Case(6, 2, input_grad=0.5, weight_grad=0.5)),
    ],
)
def test_outside_its_conditions_there_is_none(name, case):
    found = row(case, of(name))
    assert found.prediction is None or found.prediction.form is None
    assert tables.columns("en", "class")[1].cell(found) == ""


def test_the_formula_of_the_bubble_is_the_papers():
    for name in ("gpipe", "1f1b"):
        assert row(LESSON, of(name)).prediction.closed_bubble == pytest.approx(plan.formula_bubble(4, 8))


# -- the two bubbles


@pytest.mark.parametrize("name", ["zb_h2"])
def test_zb_h2_has_no_span_bubble_and_the_barrier_bubble_of_zb_h1(name):
    one, other = (row(LESSON, of(each)).figures for each in ("zb_h1", name))
    assert other.span == pytest.approx(0, abs=1e-9)
    assert (one.makespan, one.barrier) == pytest.approx((other.makespan, other.barrier)) == (27, 3)
    said = sentences.notes(rows(LESSON, [of("zb_h1"), of(name)]), "en", "class")
    assert any(
        each.startswith("ZB-H2 has two bubbles. Until all are done, a GPU idles 3 slots") for each in said
    )


def test_where_the_bubbles_agree_nothing_is_explained():
    assert not any(
        "two bubbles" in each for each in sentences.notes(rows(LESSON, [of("gpipe")]), "en", "class")
    )


def test_both_denominators_are_in_the_engineers_table():
    cells = {
        each.head + each.below: each.cell(row(LESSON, of("gpipe")))
        for each in tables.columns("en", "engineer")
    }
    assert cells["Bubble / T (barrier)pred."] == "27.3%" and cells["Bubble / idealpred."] == "37.5%"
    assert cells["Barrier bubble (slots)pred."] == "9" and cells["Span bubble (slots)pred."] == "9"


# -- rows


def test_a_schedule_that_cannot_serve_these_numbers_says_why_and_the_others_go_on():
    bad, good = rows(Case(4, 8, forward=0, input_grad=0, weight_grad=0), [of("gpipe"), of("1f1b")])
    assert bad.prediction is good.prediction is None and bad.error.key == "costs_zero"
    wrong, right = rows(Case(3, 8), [of("chimera"), of("gpipe")])
    assert isinstance(wrong.error, ScheduleError) and right.figures.makespan == 30
    for lang, view in EVERY:
        lines = tables.text([wrong, right], lang, view)
        assert sentences.reason(wrong.error, lang, view) in lines[1]
        assert f'colspan="{len(tables.columns(lang, view)) - 1}"' in tables.page([wrong, right], lang, view)


def test_a_relay_race_does_the_whole_mini_batch_at_once():
    found = row(LESSON, of("naive")).prediction
    assert (found.figures.makespan, found.messages, found.peak) == (96, 6, 8)


@pytest.mark.parametrize("name", ["dualpipe", "chimera"])
def test_two_copies_of_the_parameters_are_counted(name):
    assert row(LESSON, of(name)).prediction.copies == 2
    assert row(LESSON, of("1f1b")).prediction.copies == 1


# -- the best under a cap


def test_the_best_is_the_fastest_of_all_that_keep_no_more_than_the_cap():
    case, names = Case(3, 6, overhead=0.2), ["gpipe", "1f1b"]
    tried = {name: [row(case, *each) for each in candidates(case, name)] for name in names}
    answers = set()
    for cap in (0.5, 1.0, 2.0, 4.0):
        found = best_under(case, names, cap)
        for one in found.rows:
            within = [each for each in tried[one.variant.name] if each.prediction.peak <= cap]
            assert (one.prediction is None) == (not within)
            if within:
                assert one.prediction.peak <= cap
                assert one.figures.makespan == pytest.approx(min(each.figures.makespan for each in within))
                answers.add((one.variant, one.num_micro_batches))
        assert found.tried == sum(map(len, tried.values())) and found.refused == 0
        assert found.over == sum(each.prediction.peak > cap for rows_ in tried.values() for each in rows_)
    assert len(answers) > 3


def test_halves_and_doubles_of_m_are_tried_as_far_as_they_are_whole():
    assert pieces(Case(4, 8)) == (2, 4, 8, 16, 32) and pieces(Case(4, 7)) == (7, 14, 28)


def test_a_schedule_that_never_fits_says_the_least_it_needs():
    found = best_under(LESSON, ["gpipe", "naive"], cap=0.5)
    assert found.rows[1].prediction is None and found.least["naive"] == 8
    assert any("relay race: keeps at least 8" in each for each in sentences.search(found, "en", "class"))


def test_what_was_tried_is_said_with_all_its_numbers():
    found = best_under(LESSON, ["gpipe"], cap=4)
    (said, hint) = sentences.search(found, "zh", "class")
    assert "15 种搭配（切成 2、4、8、16、32 小份，草稿 都留着、最后一份留着、都擦掉）" in said
    assert hint == say("compare_finest", "zh")
    assert (
        len(sentences.search(best_under(replace(LESSON, overhead=1.0), ["gpipe"], cap=4), "zh", "class")) == 1
    )


def test_a_search_can_be_ended_after_any_combination():
    def stop(done, total):
        if done == 2:
            raise Cancelled("cancelled")

    with pytest.raises(Cancelled):
        best_under(LESSON, ["gpipe"], 4, stop)


# -- pictures


def test_a_pixel_is_the_mixture_of_what_happened_in_its_time():
    timeline = replace(plan.simulate(plan.gpipe(2, 2), plan.Costs(1, 1)), source="measured")
    pixels = dense.block(timeline, width=12, until=timeline.makespan, row=1)
    forward, back = np.array(FILLS[plan.Kind.FORWARD]), np.array(FILLS[plan.Kind.BACKWARD])
    assert pixels.shape == (2, 12, 3)
    assert (pixels[0, 0] == forward).all() and (pixels[1, 0] == IDLE).all() and (pixels[0, -1] == back).all()
    (mixed,) = dense.block(plan.simulate(plan.gpipe(1, 1), plan.Costs(1, 1)), 1, 2.0, 1)[0]
    faint = [dense.FAINT * fill + (1 - dense.FAINT) * 255 for fill in (forward, back)]
    assert np.abs(mixed - (faint[0] + faint[1]) / 2).max() <= 1


@pytest.mark.parametrize(
    ("k", "m", "drawn"), [(4, 8, "_cells"), (32, 64, "_mixtures"), (4, 400, "_mixtures")]
)
def test_cells_where_there_is_room_and_mixtures_where_there_is_none(k, m, drawn, monkeypatch):
    case, called = Case(k, m), []
    for name in ("_cells", "_mixtures"):
        real = getattr(pictures, name)
        monkeypatch.setattr(pictures, name, lambda *a, name=name, real=real: called.append(name) or real(*a))
    image = pictures.draw(case, rows(case, [of("gpipe")]), "zh", "class")
    assert called == [drawn] and image.width == pictures.WIDTH


def test_the_still_picture_has_the_table_under_the_grids():
    found = rows(LESSON, [of("gpipe")])
    live, still = (draw(LESSON, found, "en", "class") for draw in (pictures.draw, pictures.still))
    assert still.width == live.width and still.height == live.height + (1 + 2) * pictures.LINE
    told = pictures.still(LESSON, found, "en", "class", below="How to bring it alive.")
    assert told.height == still.height + pictures.LINE
    assert (np.asarray(still)[: live.height] == np.asarray(live)).all()


def test_nothing_chosen_is_a_picture_too():
    assert pictures.draw(LESSON, [], "en", "class").height < 60


def test_a_knob_is_seen_at_once(make):
    panel = make(num_devices=4, num_micro_batches=8, schedules=list(FIRST))
    took = []
    for m in (7, 8, 9, 10, 12, 13, 14):
        began = time.thread_time()  # of this thread alone: other tests and people may keep the machine busy
        panel.num_micro_batches = m
        took.append(time.thread_time() - began)
    assert min(took) <= 1  # the promise is a tenth of a second on a machine that does nothing else


# -- what stayed


def measured(difference, overruns=0):
    predicted = row(LESSON, of("gpipe"))
    timeline = replace(predicted.prediction.timeline, source="measured", devices="4 stand-ins, 20 ms a slot")
    return replace(predicted, measured=Measured(timeline, 1.0, difference, overruns, 0.0, 64))


@pytest.mark.parametrize(("lang", "view"), EVERY)
def test_equal_gradients_are_claimed_only_where_they_were_compared(lang, view):
    claims = [say(key, lang, view, difference="").rstrip() for key in ("said_same_exactly", "said_same")]
    starts = tuple(claim[:4] if lang == "zh" else claim[:14] for claim in claims)
    assert sentences.equality(measured(3e-7), lang, view).startswith(starts)
    assert sentences.equality(measured(0.0), lang, view) == say("said_same_exactly", lang, view)
    refused = replace(row(LESSON, of("gpipe")), error=ScheduleError("recompute", asked="x", known="late"))
    for each in (measured(0.01), row(LESSON, of("gpipe")), refused):
        assert not sentences.equality(each, lang, view).startswith(starts)


def test_gradients_that_differ_are_said_to_differ():
    assert sentences.equality(measured(0.02), "zh", "class").startswith(
        "结果不一样：每个旋钮要改的量，和不切时最多差百分之二"
    )
    assert "up to 2.0e-02" in sentences.equality(measured(0.02), "en", "engineer")


def test_overruns_stand_in_the_caption():
    assert "3 overruns: not to be trusted" in sentences.caption(measured(0.0, overruns=3), "en", "class")


def test_lateness_that_is_seen_stands_in_the_caption():
    late = replace(measured(0.0), measured=replace(measured(0.0).measured, late=0.0123))
    assert sentences.caption(late, "en", "class").endswith("an op 12 ms late")


def test_no_picture_loses_where_it_comes_from():
    one, other = measured(0.0), row(LESSON, of("1f1b"))
    said = sentences.source(LESSON, [one, other], "en", "class")
    assert [each.split(":")[0] for each in said] == ["Measured", "Predicted"]
    assert "4 stand-ins" in said[0]
    assert "· measured ·" in sentences.caption(one, "en", "class")
    assert "· predicted ·" in sentences.caption(other, "en", "class")


# -- really trained


def test_each_schedule_really_trains_and_is_measured_where_it_was_predicted(make):
    panel = make(schedules=["gpipe", "1f1b", "looped_bfs"])
    before = [each.figures for each in panel.rows]
    found = panel.run().wait(timeout=60)
    assert [each.error for each in found] == [None] * len(found)
    for each, predicted in zip(found, before, strict=True):
        assert each.measured.timeline.source == "measured"
        assert each.measured.difference < 1e-4
        assert each.measured.figures.makespan == pytest.approx(predicted.makespan, abs=0.5)
        assert abs(each.measured.figures.bubble - predicted.bubble) < 0.05
    assert panel.rows == found
    assert "gradients" in panel.picture_text() and "Measured: each really trained" in panel.picture_text()

    panel.num_micro_batches = 3
    assert [each.measured for each in panel.rows] == [None] * len(found)
    panel.num_micro_batches = 2
    assert panel.rows == found


def test_a_schedule_that_the_engine_refuses_is_predicted_only_and_the_others_train(make, monkeypatch):
    real = measuring.Bench.measure

    def refuse(bench, asked, watch):
        if asked.variant.name == "gpipe":
            raise ScheduleError("recompute", asked="never", known="late")
        return real(bench, asked, watch)

    monkeypatch.setattr(measuring.Bench, "measure", refuse)
    panel = make()
    refused, trained = panel.run().wait(timeout=60)
    assert refused.measured is None and trained.measured is not None
    assert "Predicted only: unknown recompute time" in panel.picture_text()
    assert "1 measured, 1 predicted only" in panel.screen.status.value


def test_stand_ins_say_what_is_declared_and_take_it():
    case = Case(2, 2, 1, 2, 0.5, 1, latency=0.5, overhead=0.25, slow_part=1, slow_factor=3.0)
    devices = measuring.CaseStandIns(2, tick=0.02, latency=0.01, case=case)
    assert devices.label() == (
        "2 stand-ins, 20 ms a slot, F:I:W:R 1:2:0.5:1, 0.25 slots overhead an op, 0.5 slots a hop, "
        "part 1 of the model 3 x slower; durations declared, order and waiting measured"
    )
    costs = devices.costs(plan.gpipe(2, 4), 64, None)
    assert costs.forward == pytest.approx([0.01, 0.03]) and costs.backward == pytest.approx([0.025, 0.075])
    assert (costs.latency, costs.overhead) == (0.01, 0.005) and not devices.proportional


def test_a_slot_is_long_enough_for_the_shortest_op():
    assert measuring.slot_seconds(LESSON, rows(LESSON, [of("gpipe")])) == 0.02
    short = replace(LESSON, weight_grad=0.25, input_grad=0.0)
    assert measuring.slot_seconds(short, rows(short, [of("gpipe")])) == pytest.approx(0.04)


def test_one_mini_batch_serves_every_m_of_a_comparison():
    found = [row(LESSON, of("gpipe")), row(LESSON, of("1f1b"), 12), row(LESSON, of("naive"))]
    bench = measuring.Bench(LESSON, found)
    assert bench.samples == 72 and len(bench.model) == 8


def test_cancel_ends_soon_and_the_panel_can_be_used_again(make):
    panel = make(num_micro_batches=16, schedules=["gpipe"])
    started = panel.run()
    deadline = time.monotonic() + 20
    while panel._pipeline is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    panel.cancel()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        started.wait(timeout=20)
    assert time.monotonic() - began < 2
    assert "Stopped" in panel.screen.status.value and not panel.screen.run.disabled


# -- the panel


def test_the_knobs_rest_while_something_runs(make, monkeypatch):
    panel, seen = make(), []

    def look(bench, asked, watch):
        seen.append(([field.disabled for field in panel.screen.fields], panel.screen.cancel.disabled))
        raise ScheduleError("recompute", asked="never", known="late")

    monkeypatch.setattr(measuring.Bench, "measure", look)
    panel.run().wait(timeout=20)
    assert all(seen[1][0]) and not seen[1][1]
    assert not any(field.disabled for field in panel.screen.fields) and panel.screen.cancel.disabled


def test_the_best_takes_the_place_of_the_knobs_until_one_is_moved(make):
    panel = make(num_devices=4, num_micro_batches=8, overhead=0.1, cap=2.0)
    found = panel.find_best().wait(timeout=30)
    assert panel.rows == found and all(each.prediction.peak <= 2 for each in found)
    assert "M=" in panel.picture_text() and "combinations tried" in panel.picture_text()
    panel.screen.back.click()
    assert [each.num_micro_batches for each in panel.rows] == [8, 8]
    panel.find_best().wait(timeout=30)
    panel.num_micro_batches = 6
    assert [each.num_micro_batches for each in panel.rows] == [6, 6]


def test_what_was_found_for_other_knobs_is_not_shown(make, monkeypatch):
    panel = make()

    def move_a_knob(case, *rest):
        panel.num_micro_batches = 3
        return best_under(case, *rest)

    monkeypatch.setattr(best, "best_under", move_a_knob)
    panel.find_best().wait(timeout=30)
    assert [each.num_micro_batches for each in panel.rows] == [3, 3]


def test_a_long_run_wants_a_second_press(make):
    panel = make(num_devices=4, num_micro_batches=512)
    panel.settle()
    panel.screen.run.click()
    assert panel.current is None and "press again" in panel.screen.run.description
    panel.num_micro_batches = 2
    assert "press again" not in panel.screen.run.description


def test_boxes_and_names_are_the_same_choice(make):
    panel = make()
    panel.screen.boxes["1f1b"].value = False
    assert panel.schedules == ["gpipe"]
    panel.schedules = ["1f1b", "gpipe"]
    assert panel.screen.boxes["1f1b"].value and [each.name for each in panel.variants] == ["gpipe", "1f1b"]


@pytest.mark.parametrize(("lang", "view"), EVERY)
def test_every_language_and_view_has_a_picture_and_its_words(make, lang, view):
    panel = make(lang, view, schedules=list(KNOWN), num_devices=4, num_micro_batches=8)
    assert Image.open(io.BytesIO(panel.picture_png())).width == pictures.WIDTH
    words = panel.picture_text()
    assert words.endswith(say("still_line", lang, view)) and "27.3%" in words
    assert (panel.screen.costs_box.layout.display == "none") == (view == "class")
    words.encode("gbk")


def test_a_class_counts_from_1_and_has_fewer_numbers():
    assert len(tables.columns("zh", "class")) == 10 < len(tables.columns("zh", "engineer"))
    assert say("compare_part", "zh", "class", number=1) == "第 1 段"


def test_a_large_comparison_is_drawn_in_the_background_and_soon(make):
    panel = make(num_devices=32, num_micro_batches=256)
    began = time.perf_counter()
    panel.num_micro_batches = 250
    assert time.perf_counter() - began < 2  # not the seconds that eleven large grids take
    panel.settle()
    assert [each.num_micro_batches for each in panel.rows] == [250, 250]


def test_files_hold_the_table_and_the_picture(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = make(num_devices=4, num_micro_batches=8)
    panel.screen.csv.click()
    assert "pipekit-compare.csv" in panel.screen.status.value
    read = list(csv.DictReader(io.StringIO((tmp_path / "pipekit-compare.csv").read_text("utf-8-sig"))))
    assert [each["schedule"] for each in read] == ["gpipe", "1f1b"]
    assert float(read[0]["makespan_closed"]) == float(read[0]["makespan_predicted"]) == 33
    assert read[0]["makespan_measured"] == "" and read[0]["formula"] == "(M+K-1)(F+B)"
    assert panel.save_png().read_bytes() == panel.picture().png != panel.picture_png()
    with pytest.raises(SweepError):
        tables.csv_bytes(LESSON, [])


def test_a_measured_timeline_is_drawn_on_the_axis_of_the_predicted_ones():
    seconds = plan.simulate(plan.gpipe(4, 8), plan.Costs(0.02, 0.04))
    found = replace(measured(0.0), measured=replace(measured(0.0).measured, timeline=seconds, slot=0.02))
    drawn, predicted = pictures.timeline_of(found), pictures.timeline_of(row(LESSON, of("gpipe")))
    assert drawn.spans.starts == pytest.approx(predicted.spans.starts)
    assert drawn.spans.ends == pytest.approx(predicted.spans.ends)


def test_a_figure_read_off_a_measured_timeline_is_in_slots():
    timeline = plan.simulate(plan.gpipe(4, 8), plan.Costs(0.02, 0.04))
    assert Figures.of(timeline, 0.02).makespan == pytest.approx(33)


def test_an_unforeseen_failure_is_kept_in_words(make, monkeypatch):
    panel = make()
    monkeypatch.setattr(measuring, "Bench", lambda *anything: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        panel.run().wait(timeout=20)
    assert "ZeroDivisionError" in panel.screen.status.value and not panel._running
    assert not isinstance(panel.current.error, PipekitError) and isinstance(panel.rows[0], Row)
