"""Timelines in files: they come back equal, keep where they come from, and what can't be is refused with its place."""

import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipekit import plan
from pipekit.errors import FileError, PipekitError
from pipekit.plan import Costs, Kind, Op, Span, Timeline, files
from pipekit.plan.files import from_csv, from_json, to_csv, to_json

DEVICES = "4 stand-ins, 160 ms a mini-batch forward; durations declared, order and waiting measured"
SUFFIXES = (".json", ".csv", ".trace.json")
CASES = settings(max_examples=60, deadline=None, derandomize=True, database=None)
TIMES = st.floats(-1e12, 1e12, allow_nan=False)
OPS = st.builds(Op, st.sampled_from(Kind), st.integers(0, (1 << 20) - 1), st.integers(0, (1 << 20) - 1))
ROWS = st.lists(
    st.tuples(OPS, st.integers(0, 3), TIMES, TIMES), max_size=12, unique_by=lambda row: row[0].code
)
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=30)
RUN_BY_A_SPREADSHEET = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def one_after_another(rows):
    """Spans of (op, device, moment, moment): each device's moments in order are its ops' starts and ends."""
    spans = []
    for device in range(4):
        own = [row for row in rows if row[1] == device]
        moments = iter(sorted(moment for row in own for moment in row[2:]))
        spans += [Span(op, device, next(moments), next(moments)) for op, *_ in own]
    return spans


TIMELINES = st.builds(
    Timeline,
    ROWS.map(one_after_another),
    st.just(4),
    st.sampled_from(["predicted", "measured", "shared"]),
    st.builds(str.__add__, st.sampled_from(["", "'", " ", *RUN_BY_A_SPREADSHEET]), WORDS),
    unit=st.sampled_from(["s", "tick"]),
)


@pytest.fixture
def measured():
    timeline = plan.simulate(
        plan.gpipe(num_stages=4, num_micro_batches=4), Costs(forward=0.04, backward=0.08)
    )
    return replace(timeline, source="measured", devices=DEVICES)


def facts(timeline):
    return (timeline.source, timeline.devices, timeline.unit, timeline.num_devices, list(timeline.spans))


# -- back and forth


@CASES
@given(TIMELINES)
def test_json_and_csv_bring_back_every_bit(timeline):
    assert facts(from_json(to_json(timeline))) == facts(timeline)
    assert facts(from_csv(to_csv(timeline))) == facts(timeline)


@CASES
@given(TIMELINES)
def test_what_a_chrome_trace_rounds_is_no_overlap_and_none_when_saved_again(timeline):
    inner = [replace(span, start=span.start / 4, end=span.end / 4) for span in timeline.spans]
    trace = plan.chrome_trace(replace(timeline, spans=inner))  # /4: rounding must not pass the longest time
    back = plan.from_chrome_trace(json.loads(json.dumps(trace)))
    assert facts(from_json(to_json(back))) == facts(back)


def test_a_trace_that_counts_from_1970_comes_back_without_overlap(measured):
    shrunk = (replace(span, start=span.start / 3e3, end=span.end / 3e3) for span in measured.spans)
    spans = [replace(span, start=span.start + 1.7e9, end=span.end + 1.7e9) for span in shrunk]
    late = replace(measured, spans=spans)
    assert facts(plan.from_chrome_trace(plan.chrome_trace(late))) == facts(late)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_measured_timeline_stays_measured_with_its_devices(tmp_path, measured, suffix):
    path = plan.write_timeline(measured, tmp_path / f"run{suffix}")
    back = plan.read_timeline(path)
    assert (back.source, back.devices) == ("measured", DEVICES)
    assert plan.bubble_fraction(back) == pytest.approx(plan.bubble_fraction(measured))
    assert str(back) == str(measured)


def test_a_chrome_trace_comes_back_to_a_nanosecond(tmp_path, measured):
    late = [replace(s, start=s.start * math.pi + 5000, end=s.end * math.pi + 5000) for s in measured.spans]
    late = replace(measured, spans=late, num_devices=6)
    path = plan.write_timeline(late, tmp_path / "a.trace.json")
    assert path.read_bytes().startswith(b'{"traceEvents"')  # and not JSON of our own
    back = plan.read_timeline(path)
    assert [span.op for span in back.spans] == [span.op for span in late.spans]
    assert np.abs(back.spans.starts - late.spans.starts).max() < 1e-9
    assert np.abs(back.spans.ends - late.spans.ends).max() < 1e-9
    assert back.num_devices == 6  # a device without a span counts as idle


class Counted:
    """What a run counts, as far as files know it."""

    peak_activation_bytes = (10, 20)
    peak_waiting_bytes = (1, 2)
    parameter_bytes = (300, 400)
    buffer_bytes = (0, 0)
    gradient_bytes = (300, 400)
    curves = (np.array([[0.1, 10.0, 0.0], [0.2, 0.0, 1.0]]), np.zeros((0, 3)))


def test_counted_memory_comes_back_from_json(tmp_path):
    timeline = Timeline([Span(Op.parse("0F0"), 0, 0, 1)], 2, "measured", "2 x A", memory=Counted())
    back = plan.read_timeline(plan.write_timeline(timeline, tmp_path / "a.json")).memory
    assert back.peak_activation_bytes == [10, 20] and back.gradient_bytes == [300, 400]
    assert [curve.tolist() for curve in back.curves] == [curve.tolist() for curve in Counted.curves]
    assert back.curves[1].shape == (0, 3)
    again = plan.read_timeline(plan.write_timeline(replace(timeline, memory=back), tmp_path / "b.json"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert again.memory.parameter_bytes == [300, 400]


def test_a_runs_own_memory_has_what_files_ask_for():
    from pipekit.run.result import Memory

    assert all(hasattr(Memory, name) for name in plan.MemoryRecord.__slots__)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_utf_8_is_read_with_and_without_its_mark(tmp_path, measured, suffix, mark):
    path = tmp_path / f"run{suffix}"
    named = replace(measured, devices="四块显卡　×4")
    plan.write_timeline(named, path)
    path.write_bytes(mark + path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    assert plan.read_timeline(path).devices == named.devices


def test_a_csv_opens_in_excel_and_is_read_after_excel_saved_it_again(tmp_path, measured):
    path = plan.write_timeline(measured, tmp_path / "run.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    again = "\r\n".join(line + "," * (5 - line.count(",") if '"' not in line else 4) for line in lines)
    path.write_bytes(b"\xef\xbb\xbf" + f"{again}\r\n,,,,,\r\n".encode())
    assert facts(plan.read_timeline(path)) == facts(measured)


@pytest.mark.parametrize("first", RUN_BY_A_SPREADSHEET)
@pytest.mark.parametrize("before", ["", "'", "''", " "])
def test_no_spreadsheet_runs_what_a_csv_says_of_devices_and_it_comes_back(measured, before, first):
    named = replace(measured, devices=f"{before}{first}HYPERLINK(1)")
    text = to_csv(named)
    assert f"# devices,'{named.devices}\n" in text
    assert from_csv(text).devices == named.devices


@pytest.mark.parametrize("devices", ["'4 stand-ins", "''", "4 = 2 + 2", "", "'"])
def test_other_words_stand_in_a_csv_as_they_are(measured, devices):
    text = to_csv(replace(measured, devices=devices))
    assert f"# devices,{devices}\n" in text and from_csv(text).devices == devices


def test_rows_in_another_order_are_the_same_timeline(measured):
    lines = to_csv(measured).splitlines()
    head, rows = lines[:7], lines[7:]
    assert facts(from_csv("\n".join([*head, *reversed(rows)]))) == facts(measured)


def test_what_a_file_holds_is_seen_from_its_text_and_not_its_name(tmp_path, measured):
    path = plan.write_timeline(measured, tmp_path / "a.csv")
    other = path.rename(tmp_path / "timeline.txt")
    assert facts(plan.read_timeline(other)) == facts(measured)


# -- what can't be


GOOD = {
    "format": "pipekit-timeline",
    "version": 1,
    "source": "measured",
    "devices": "2 x A",
    "unit": "s",
    "num_devices": 2,
    "spans": [{"device": 0, "op": "0F0", "start": 0.0, "end": 1.0}],
}
NAN, INFINITY = float("nan"), float("inf")


def with_span(**changed):
    return GOOD | {"spans": [*GOOD["spans"], GOOD["spans"][0] | changed]}


@pytest.mark.parametrize(
    ("found", "key", "said"),
    [
        ({}, "file_kind", "holds no timeline"),
        ([], "file_kind", "holds no timeline"),
        (GOOD | {"format": "other"}, "file_kind", "holds no timeline"),
        (GOOD | {"version": 2}, "file_version", "has version 2 of the format, this pipekit reads version 1"),
        (GOOD | {"version": True}, "file_version", "version True"),
        (
            GOOD | {"source": "simulated"},
            "file_choice",
            "one of predicted, measured, shared, not 'simulated'",
        ),
        (GOOD | {"source": []}, "file_choice", "not []"),
        (GOOD | {"unit": "ms"}, "file_choice", "unit must be one of s, tick"),
        (GOOD | {"devices": None}, "file_text", "devices must be one line of text, not None"),
        (GOOD | {"devices": "a\nb"}, "file_text", "one line"),
        (GOOD | {"devices": "\ud800"}, "file_text", "one line"),
        (GOOD | {"num_devices": 0}, "file_whole", "from 1 to 65536, not 0"),
        (GOOD | {"num_devices": 10**9}, "file_whole", "not 1000000000"),
        (GOOD | {"num_devices": 2.0}, "file_whole", "not 2.0"),
        (GOOD | {"num_devices": True}, "file_whole", "not True"),
        (GOOD | {"spans": {}}, "file_list", "spans must be a list"),
        (GOOD | {"spans": [7]}, "file_object", "spans[0]: must be an object"),
        (with_span(op="0X0"), "file_op", "spans[1]: cannot read '0X0' as an op"),
        (with_span(op=3), "file_op", "cannot read 3"),
        (with_span(op=f"{1 << 20}F0"), "file_op", "cannot read '1048576F0'"),
        (with_span(device=-1), "file_whole", "device must be a whole number from 0"),
        (with_span(device=2), "file_device", "no device 2: num_devices is 2, so devices go from 0 to 1"),
        (with_span(start=2.0), "file_order", "0F0 starts at 2.0 and ends before that, at 1.0"),
        (with_span(end=NAN), "file_number", "end must be a finite number, at most 1e+12, not nan"),
        (with_span(end=INFINITY), "file_number", "not inf"),
        (with_span(end=10**400), "file_number", "end must be a finite number"),
        (with_span(start="0"), "file_number", "not '0'"),
        (with_span(start=False), "file_number", "not False"),
        (GOOD | {"memory": None}, "file_object", "memory: must be an object"),
        (GOOD | {"memory": {"peak_activation_bytes": [1]}}, "file_list", "peak_activation_bytes"),
        (GOOD | {"memory": {"peak_activation_bytes": [1, -1]}}, "file_whole", "not -1"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_place(found, key, said):
    with pytest.raises(FileError) as caught:
        from_json(json.dumps(found), "a.json")
    assert caught.value.key == key
    assert said in str(caught.value) and "a.json" in str(caught.value)


def holding(*spans, **changed):
    """A file's JSON with spans given as "op device start end"."""
    rows = [dict(zip(("op", "device", "start", "end"), span.split(), strict=True)) for span in spans]
    numbers = [
        {"device": int(row["device"]), "start": float(row["start"]), "end": float(row["end"])} for row in rows
    ]
    return json.dumps(
        GOOD | {"spans": [row | each for row, each in zip(rows, numbers, strict=True)]} | changed
    )


def as_csv(text):
    """The same file as CSV, row by row; nothing is checked."""
    found = json.loads(text)
    head = [f"# {name},{found[name]}" for name in list(GOOD)[:-1]]
    ops = [(Op.parse(span["op"]), span) for span in found["spans"]]
    rows = [
        f"{span['device']},{op.stage},{op.kind.value},{op.micro_batch},{span['start']},{span['end']}"
        for op, span in ops
    ]
    return "\n".join([*head, "device,stage,kind,micro_batch,start,end", *rows])


def as_trace(text):
    """The same file as a Chrome trace; nothing is checked."""
    found = json.loads(text)
    events = [
        {
            "name": span["op"],
            "ph": "X",
            "ts": span["start"] * 1e6,
            "dur": (span["end"] - span["start"]) * 1e6,
            "tid": span["device"],
        }
        for span in found["spans"]
    ]
    return json.dumps({"traceEvents": events, "otherData": found | {"start": 0.0}})


def test_two_ops_at_once_on_a_device_are_refused_with_both_and_their_times():
    text = holding("0F1 1 2 5", "0F0 1 0.5 3", "1F0 0 0 9")
    said = (
        "0F1 runs on device 1 from 2.0 to 5.0, but 0F0 ({}) runs there from 0.5 to 3.0; "
        "a device runs one op at a time: correct the times, or save the timeline again"
    )
    for read, changed, place, earlier in (
        (from_json, text, "a: spans[0]", "a: spans[1]"),
        (from_csv, as_csv(text), "a:8", "a:9"),
        (from_json, as_trace(text), "a: traceEvents[0]", "a: traceEvents[1]"),
    ):
        with pytest.raises(FileError) as caught:
            read(changed, "a")
        assert (caught.value.key, str(caught.value)) == ("file_overlap", f"{place}: {said.format(earlier)}")


@pytest.mark.parametrize("source", ["predicted", "measured", "shared"])
def test_no_file_gives_a_bubble_below_zero(source):
    spans = [f"0F{index} {index % 2} 0 {1 + index % 3}" for index in range(8)]
    with pytest.raises(FileError, match="one op at a time"):
        from_json(holding(*spans, source=source))
    inside = ["0F0 0 0 9", "0F1 0 1 2", "0F2 0 3 4"]
    with pytest.raises(FileError, match=r"0F1 runs on device 0 from 1\.0 to 2\.0, but 0F0"):
        from_json(holding(*inside))


@pytest.mark.parametrize("spans", [("0F0 0 0 1", "0F0 0 2 3"), ("0F0 0 0 1", "0F0 1 2 3")])
def test_an_op_that_runs_twice_is_refused_with_both_times(spans):
    text = holding("0F1 1 7 8", *spans)
    said = (
        "0F0 runs from 2.0 to 3.0, but {} has it already, from 0.0 to 1.0; an op runs once: keep one of them"
    )
    for read, changed, place, earlier in (
        (from_json, text, "a: spans[2]", "a: spans[1]"),
        (from_csv, as_csv(text), "a:10", "a:9"),
    ):
        with pytest.raises(FileError) as caught:
            read(changed, "a")
        assert caught.value.key == "file_repeated"
        assert str(caught.value).startswith(f"{place}: {said.format(earlier)}")


@pytest.mark.parametrize("unit", ["s", "tick"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_ops_may_overlap_by_a_billionth_of_the_whole_and_no_more(unit, scale):
    for overlap, fits in ((0.9e-9, True), (1.1e-9, False)):
        text = holding(f"0F0 0 0 {scale / 2}", f"0F1 0 {scale / 2 - overlap * scale!r} {scale}", unit=unit)
        if fits:
            assert plan.bubble_fraction(from_json(text)) == pytest.approx(0.5, abs=1e-8)
        else:
            with pytest.raises(FileError, match="one op at a time"):
                from_json(text)


def test_ops_of_no_time_may_stand_between_two_others():
    spans = ("0F0 0 0 1", "0F1 0 1 1", "0F2 0 1 1", "0F3 0 1 2", "0F4 1 0 0")
    assert len(from_json(holding(*spans)).spans) == 5
    assert len(from_json(holding("0F0 0 3 3", "0F1 0 3 3")).spans) == 2


def test_overlaps_and_repeats_speak_chinese_and_count_as_a_class_does():
    from pipekit.show import sentence

    with pytest.raises(FileError) as overlap:
        from_json(holding("0F0 0 0 2", "0F1 0 1 3"), "a")
    assert "第 1 段第 2 小份往前算 在显卡 1 上从 1.0 做到 3.0" in sentence(overlap.value, "zh")
    assert "第 1 段第 1 小份往前算（a: spans[0]）" in sentence(overlap.value, "zh")
    assert "0F0（a: spans[0]）" in sentence(overlap.value, "zh", "engineer")
    with pytest.raises(FileError) as repeated:
        from_json(holding("0F0 0 0 2", "0F0 0 3 4"), "a")
    assert "a: spans[0] 里已经有它了，从 0.0 做到 2.0" in sentence(repeated.value, "zh")


@pytest.mark.parametrize("name", ["source", "devices", "unit", "num_devices", "spans"])
def test_what_is_missing_is_named(name):
    with pytest.raises(FileError, match=f"{name} is missing"):
        from_json(json.dumps({key: value for key, value in GOOD.items() if key != name}))


@pytest.mark.parametrize("text", ["{", '{"a": 1', "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "{]"])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(FileError, match=r"not readable as JSON|holds no timeline"):
        from_json(text)


CSV = to_csv(from_json(json.dumps(GOOD)))


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ("# version,1", "# version,one", "file_version", "'one'"),
        ("# source,measured\n", "", "file_field", "source is missing"),
        ("# source,measured", "# source,guessed", "file_choice", "'guessed'"),
        ("0,0,F,0,0.0,1.0", "0,0,G,0,0.0,1.0", "file_choice", "a.csv:8: kind must be one of F, B, I, W, R"),
        ("0,0,F,0,0.0,1.0", "0,0,F,-1,0.0,1.0", "file_whole", "a.csv:8: micro_batch"),
        ("0,0,F,0,0.0,1.0", "0,0,F,0,0.0", "file_columns", "a.csv:8: the columns must be device,stage"),
        ("0,0,F,0,0.0,1.0", "0,0,F,0,0.0,nan", "file_number", "not nan"),
        ("0,0,F,0,0.0,1.0", "x,0,F,0,0.0,1.0", "file_whole", "device must be a whole number"),
        ("0,0,F,0,0.0,1.0", "0.5,0,F,0,0.0,1.0", "file_whole", "not 0.5"),
        ("device,stage", "stage,device", "file_columns", "not stage,device"),
        ("device,stage", "device;stage", "file_columns", "not device;stage"),
        ("# format,pipekit-timeline", "# format,x", "file_kind", "holds no timeline"),
        (CSV, "", "file_kind", "holds no timeline"),
        (CSV, '"' + "x" * 200_000, "file_kind", "holds no timeline"),
    ],
)
def test_a_csv_line_that_cannot_be_is_refused_with_its_number(old, new, key, said):
    assert old in CSV
    with pytest.raises(FileError) as caught:
        from_csv(CSV.replace(old, new), "a.csv")
    assert caught.value.key == key and said in str(caught.value)


def test_another_programs_trace_is_refused(measured):
    for trace in ({"traceEvents": []}, {"traceEvents": [], "otherData": {"version": "1"}}):
        with pytest.raises(FileError, match="holds no timeline of pipekit"):
            plan.from_chrome_trace(trace)
    trace = plan.chrome_trace(measured)
    trace["traceEvents"][4]["dur"] = -1.0
    with pytest.raises(FileError, match=r"traceEvents\[4\]: starts|traceEvents\[4\]: 0F0 starts"):
        plan.from_chrome_trace(trace)


def test_what_viewers_add_to_a_trace_is_passed_over(measured):
    trace = plan.chrome_trace(measured)
    trace["traceEvents"].insert(0, {"ph": "B", "name": "something else"})
    assert facts(plan.from_chrome_trace(trace))[:4] == facts(measured)[:4]


def test_a_huge_file_is_refused_before_it_is_read_in(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    path = tmp_path / "big.json"
    path.write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(FileError, match="more than 1 MB"):
        plan.read_timeline(path)


@pytest.mark.parametrize("content", ["显卡".encode("gbk"), "显卡".encode("utf-16"), b"\x89PNG\r\n\x1a\n"])
def test_another_encoding_is_refused_with_how_to_save(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"not UTF-8 text .* CSV UTF-8"):
        plan.read_timeline(path)


@pytest.mark.parametrize("text", ["", "hello", "\x00\x00", "a,b\n1,2\n"])
def test_text_without_a_timeline_is_refused(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match="holds no timeline"):
        plan.read_timeline(path)


@CASES
@given(st.binary(max_size=300))
def test_no_bytes_bring_anything_but_a_file_error(content):
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    for read in (from_json, from_csv):
        with pytest.raises(FileError):
            read(text)


# -- files


def test_an_existing_file_is_replaced_only_when_asked(tmp_path, measured):
    path = plan.write_timeline(measured, tmp_path / "run.json")
    with pytest.raises(FileError, match="exists already; choose another name, or say overwrite=True"):
        plan.write_timeline(measured.only("F"), path)
    assert len(plan.read_timeline(path).spans) == 32
    plan.write_timeline(measured.only("F"), path, overwrite=True)
    assert len(plan.read_timeline(path).spans) == 16


def test_a_file_is_there_whole_or_not_at_all(tmp_path, measured, monkeypatch):
    path = plan.write_timeline(measured, tmp_path / "run.json")
    before = path.read_bytes()

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match="No space left on device"):
        plan.write_timeline(measured.only("F"), path, overwrite=True)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.json"]  # nothing left over beside it


@pytest.mark.parametrize(
    "name", ["运行 1 的 时间表.json", "a b.csv", "ü" * 100 + ".json", "RUN.JSON", "a.b.trace.json"]
)
def test_names_may_be_chinese_long_and_have_spaces(tmp_path, measured, name):
    folder = tmp_path / ("深 " * 30).strip() / "二"
    folder.mkdir(parents=True)
    path = plan.write_timeline(measured, folder / name)
    assert path == folder / name
    assert plan.read_timeline(str(path)).devices == DEVICES


def test_a_name_that_cannot_be_written_is_refused_with_the_way_out(tmp_path, measured):
    cases = {
        tmp_path / "a.txt": "let the name end in one of: .json, .csv, .trace.json",
        tmp_path / "no" / "a.json": f"there is no folder {(tmp_path / 'no').resolve()}; make it first",
        tmp_path / ("x" * 400 + ".json"): "choose a shorter name",
    }
    (tmp_path / "folder.json").mkdir()
    cases[tmp_path / "folder.json"] = "is a folder; name a file in it"
    for path, said in cases.items():
        with pytest.raises(FileError) as caught:
            plan.write_timeline(measured, path)
        assert said in str(caught.value)


def test_a_file_that_is_not_there_is_named_with_its_folder(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*gone\.json"):
        plan.read_timeline(tmp_path / "gone.json")
    with pytest.raises(FileError, match="is a folder"):
        plan.read_timeline(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights on Windows")
def test_a_link_is_followed_and_stays_a_link(tmp_path, measured):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    plan.write_timeline(measured, link, overwrite=True)
    assert link.is_symlink() and plan.read_timeline(target).devices == DEVICES


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipe that lies in a folder")
def test_a_pipe_is_refused_at_once_and_stays_a_pipe(tmp_path, measured):
    pipe, link = tmp_path / "pipe.json", tmp_path / "link.json"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link, Path(os.devnull)):
        with pytest.raises(FileError, match="is a pipe, a device or the like; name a regular file"):
            plan.read_timeline(path)
    for path in (pipe, link):
        with pytest.raises(FileError, match="is a pipe, a device or the like; name a regular file"):
            plan.write_timeline(measured, path, overwrite=True)
    assert pipe.is_fifo() and sorted(os.listdir(tmp_path)) == ["link.json", "pipe.json"]


def test_file_errors_are_pipekits_and_speak_chinese(tmp_path):
    from pipekit.show import sentence

    with pytest.raises(PipekitError) as caught:
        plan.read_timeline(Path(tmp_path / "没有.json"))
    assert "没有.json 这个文件" in sentence(caught.value, "zh")


def test_words_that_no_picture_can_carry_are_not_written(measured):
    with pytest.raises(FileError, match="one line of text"):
        to_json(replace(measured, devices="a\nb"))
