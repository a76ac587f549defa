"""A picture's alternative text: both change together, in every panel that has a picture, in its language."""

import re

import pytest

from pipekit import show
from pipekit.learn import CardsGame, ComparisonPanel, ControlRoom, DeskPanel, SweepPanel
from pipekit.learn.lesson.erase import EraseAndRedo
from pipekit.learn.picture import Picture

CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def sent(monkeypatch):
    """What a page is told, message by message."""
    told = []
    monkeypatch.setattr(Picture, "send_state", lambda self, key=None: told.append(set(key)))
    return told


def test_a_picture_comes_to_the_page_together_with_its_words(sent):
    picture = Picture()
    sent.clear()
    picture.show(b"PNG", "four GPUs")
    assert (picture.value, picture.alt) == (b"PNG", "four GPUs")
    assert sent == [{"value", "alt"}]


def test_words_that_would_be_html_stay_words():
    data = show.Still(b"PNG", 'a < b & "c"')._repr_mimebundle_()[0]
    assert data["text/plain"] == 'a < b & "c"'
    assert data["text/html"] == '<img alt="a &lt; b &amp; &quot;c&quot;" src="data:image/png;base64,UE5H">'


def pictures_of(panel):
    """Every picture in a panel's widgets."""
    if isinstance(panel, Picture):
        return [panel]
    return [found for child in getattr(panel, "children", ()) for found in pictures_of(child)]


@pytest.mark.parametrize("make", [DeskPanel, ComparisonPanel, SweepPanel, ControlRoom])
def test_a_panels_pictures_have_words_in_its_language(make):
    panel = make(lang="zh")
    for lang in ("zh", "en"):
        panel.lang = lang
        if hasattr(panel, "settle"):
            panel.settle()
        shown = [each for each in pictures_of(panel) if each.value]
        assert shown and all(len(each.alt) > 5 for each in shown)
        assert {bool(CHINESE.search(each.alt)) for each in shown} == {lang == "zh"}


def test_another_picture_has_other_words():
    panel = DeskPanel("en")
    before = panel.chart.alt
    panel.num_layers = 16
    assert "GPU 1" in panel.chart.alt != before
    panel.num_devices, panel.num_layers = 8, 4
    assert (panel.chart.value, panel.chart.alt) == (b"", "")


def test_the_groups_chart_says_whose_it_is():
    game = CardsGame("en", tab="groups")
    assert game.remark()["text"] in game.chart.alt and "1" in game.chart.alt


def test_before_anything_ran_there_is_no_picture_and_there_are_no_words():
    panel = EraseAndRedo("en")
    assert (panel.picture.value, panel.picture.alt) == (b"", "")
