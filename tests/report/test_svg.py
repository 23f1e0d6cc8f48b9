"""Figures: places on paper against arithmetic, ticks at round numbers, text that stays text, all kinds, odd data."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from assay.exhibit import Figure, Series
from assay.report.svg import draw
from assay.report.svg_axes import Scale, span, ticks
from assay.report.svg_marks import density
from assay.report.svg_write import DASHES, PALETTE, SHAPES, fit, width_of
from assay.types import BadInput

KINDS = ("line", "points", "histogram", "violin", "bars")
S = "{http://www.w3.org/2000/svg}"


def figure(kind, *series, **more):
    return Figure("F1", more.get("title", "A title"), kind, more.get("x", "across"), more.get("y", "up"), series)


def simple(name="a", n=6):
    x = tuple(float(i) for i in range(n))
    y = tuple(1.0 + i % 4 for i in range(n))
    return Series(name, x, y, tuple(v - 0.5 for v in y), tuple(v + 0.5 for v in y))


def tree(drawn):
    return ElementTree.fromstring(drawn)


def near(number):
    return pytest.approx(number, abs=0.011)  # places are written with two decimals


# ---------------------------------------------------------------------------------------------------- axes


@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e9))
def test_ticks_are_round_inside_and_evenly_spaced(start, size):
    low, high = start * size, (start + 1) * size
    found = [v for v, _ in ticks(low, high)]
    assert 2 <= len(found) <= 8
    assert all(low - 1e-6 * size <= v <= high + 1e-6 * size for v in found)
    step = found[1] - found[0]
    assert np.diff(found) == pytest.approx(step, rel=1e-6)
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - m) for m in (1, 2, 2.5, 5, 10)) < 1e-3


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1), st.booleans())
def test_a_span_holds_all_values_and_has_a_size(values, zero):
    low, high = span(values, zero=zero)
    assert low <= min(values) <= max(values) <= high
    assert low < high
    assert not zero or low <= 0 <= high


def test_rounding_is_not_a_difference():
    assert span([0.1 + 0.2, 0.3]) == pytest.approx((0.0, 0.312))


def test_no_two_ticks_read_alike():
    for low, high in ((0, 1), (-1, 1), (0.5, 0.5003), (0, 3e7), (-2e-7, 3e-7), (99.9, 100.1)):
        said = [t for _, t in ticks(low, high)]
        assert len(said) == len(set(said)) >= 2


# ---------------------------------------------------------------------------------------------------- kinds


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_well_formed_named_and_described(kind):
    root = tree(draw(figure(kind, simple(), simple("b")), "u7"))
    title, desc = root.find(f"{S}title"), root.find(f"{S}desc")
    assert (title.text, title.get("id"), desc.get("id")) == ("F1: A title", "u7-title", "u7-desc")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "u7-title u7-desc"
    assert "a: 6 values, 1.000 to 4.000, median 2.000." in desc.text
    said = [t.text for t in root.iter(f"{S}text")]
    assert {"across", "up", "a", "b"} <= set(said)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_stays_text(kind):
    bad = "</text></svg><script>alert(1)</script>\" onload='x' & ]]> \x00 \ud800"
    drawn = draw(figure(kind, Series(bad, (0.0, 1.0), (1.0, 2.0)), simple(bad), title=bad, x=bad, y=bad), "u")
    root = tree(drawn)
    assert not list(root.iter(f"{S}script"))
    assert not [k for e in root.iter() for k in e.attrib if k.startswith("on") or k == "style"]
    assert root.find(f"{S}title").text.startswith("F1: </text></svg><script>alert(1)</script>")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "series",
    [
        (),
        (Series("empty", (), ()),),
        (Series("nan", (0.0, 1.0), (math.nan, math.inf)),),
        (Series("one", (3.0,), (0.0,)),),
        (Series("flat", (1.0, 2.0, 3.0), (5.0, 5.0, 5.0)),),
        (Series("holes", (0.0, 1.0, 2.0, 3.0), (1.0, math.nan, 2.0, 3.0), (0.5, math.nan, 1.5, math.nan), (2.0,) * 4),),
        (Series("tiny", (0.0, 1e-9), (-1e-12, 1e-12)), Series("huge", (1e9,), (1e12,))),
    ],
    ids=lambda s: s[0].name if s else "none",
)
def test_odd_data_is_drawn_without_a_place_that_is_none(kind, series):
    drawn = draw(figure(kind, *series))
    tree(drawn)
    places = re.sub(r"<(title|desc|text)[^>]*>.*?</\1>", "", drawn, flags=re.S)
    assert not re.search(r"\b(nan|inf)\b", places)
    if not any(math.isfinite(v) for s in series for v in s.y):
        assert "no data" in drawn


def test_a_point_stands_where_its_numbers_say():
    root = tree(draw(figure("points", Series("a", (0.0, 5.0, 10.0), (0.0, 50.0, 100.0)))))
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{S}circle")]
    ticked = {t.text: t for t in root.iter(f"{S}text") if t.get("class") == "tick"}
    assert dots[1][0] == near((dots[0][0] + dots[2][0]) / 2)
    assert dots[2][0] == near(float(ticked["10"].get("x")))
    assert dots[2][1] == near(float(ticked["100"].get("y")) - 4.2)
    assert [t.text for c in root.iter(f"{S}circle") for t in c] == ["a: 0.000 at 0", "a: 50.000 at 5", "a: 100.0 at 10"]


def test_a_line_breaks_where_a_value_is_missing_and_is_drawn_in_the_order_of_x():
    series = Series("a", (4.0, 0.0, 1.0, 2.0, 3.0), (1.0, 1.0, 2.0, math.nan, 3.0))
    paths = [p for p in tree(draw(figure("line", series))).iter(f"{S}path") if p.get("stroke") == "currentColor"]
    lines = [p.get("d") for p in paths if p.get("stroke-width") == "2"]
    assert [d.count("L") for d in lines] == [1, 1], "two stretches of two points each"


def test_a_band_goes_along_the_low_and_back_along_the_high_bounds():
    root = tree(draw(figure("line", simple(n=3))))
    (band,) = (p for p in root.iter(f"{S}path") if p.get("class") == "band")
    points = [tuple(map(float, p.split())) for p in band.get("d").strip("MZ").split("L")]
    assert len(points) == 6
    assert [p[0] for p in points[:3]] == [p[0] for p in reversed(points[3:])]
    assert all(low[1] > high[1] for low, high in zip(points[:3], reversed(points[3:]), strict=True)), "y grows downward"


def test_bars_are_as_long_as_their_values_and_have_whiskers():
    root = tree(draw(figure("bars", Series("a", (0.0, 1.0), (1.0, -2.0), (0.5, -2.5), (1.5, -1.5)))))
    bars = [r for r in root.iter(f"{S}rect") if r.get("class") == "mark"]
    tall = [float(b.get("height")) for b in bars]
    assert tall[1] == pytest.approx(2 * tall[0], rel=1e-3)
    assert float(bars[0].get("y")) + tall[0] == near(float(bars[1].get("y"))), "both start at zero"
    assert len([p for p in root.iter(f"{S}path") if p.get("class") == "whisker"]) == 2


def test_named_bars_lie_with_their_names():
    series = [Series(n, (float(i),), (v,)) for i, (n, v) in enumerate((("SST", 0.2), ("IMDB", 0.4)))]
    root = tree(draw(figure("bars", *series)))
    long = [float(r.get("width")) for r in root.iter(f"{S}rect") if r.get("class") == "mark"]
    assert long[1] == pytest.approx(2 * long[0], rel=1e-3)
    assert {"SST", "IMDB"} <= {t.text for t in root.iter(f"{S}text") if t.get("class") == "tick"}


def test_a_histogram_comes_down_between_bins_that_do_not_touch():
    root = tree(draw(figure("histogram", Series("a", (0.0, 1.0, 3.0), (2.0, 1.0, 4.0)))))
    (outline,) = (p.get("d") for p in root.iter(f"{S}path") if p.get("fill-opacity") == "0.16")
    assert outline.count("M") == 2
    assert outline.count("H") == 3


def test_many_points_are_one_path():
    rng = np.random.default_rng(0)
    many = Series("a", tuple(rng.normal(size=5000).tolist()), tuple(rng.normal(size=5000).tolist()))
    drawn = draw(figure("points", many))
    assert drawn.count("<circle") == 0
    assert drawn.count("h0") == 5000
    assert len(drawn) < 110_000


# --------------------------------------------------------------------------------------------------- violin


def test_density_is_scipys_at_the_same_bandwidth():
    values = np.random.default_rng(1).gamma(2.0, size=200)
    where, height = density(values)
    spread = values.std(ddof=1)
    silverman = 0.9 * min(spread, np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34) * 200**-0.2
    expected = gaussian_kde(values, bw_method=silverman / spread)(where)
    assert height == pytest.approx(expected / expected.max(), rel=1e-6)


def test_a_violin_marks_its_median():
    values = (1.0, 2.0, 3.0, 10.0, 11.0)
    root = tree(draw(figure("violin", Series("a", (0.5,) * 5, values))))
    (mark,) = root.iter(f"{S}circle")
    assert mark.find(f"{S}title").text == "a at 0.5: median 3.000, quartiles 2.000 and 10.000, n = 5"
    ticked = {t.text: float(t.get("y")) - 4.2 for t in root.iter(f"{S}text") if t.get("class") == "tick"}
    scale = Scale(0.0, 10.0, ticked["0"], ticked["10"])
    assert float(mark.get("cy")) == pytest.approx(scale(3.0), abs=0.05)


# ---------------------------------------------------------------------------------------------------- look


def test_series_differ_without_colour():
    series = [simple(f"s{i}") for i in range(21)]
    root = tree(draw(figure("line", *series)))
    assert len({(i % len(PALETTE), i % len(DASHES)) for i in range(21)}) == 21, "colour and dash together"
    assert len(SHAPES) >= 7
    assert len([g for g in root.iter(f"{S}g") if g.get("class") == "s0"]) >= 3


@pytest.mark.parametrize("ground", [(255, 255, 255), (251, 250, 247)])
def test_colours_stand_out_on_paper(ground):
    def light(rgb):
        parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))

    for colour in PALETTE:
        rgb = tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
        assert (light(ground) + 0.05) / (light(rgb) + 0.05) >= 4.5


@given(st.text(max_size=80), st.floats(20, 300))
def test_fitted_text_fits(content, room):
    assert width_of(fit(content, room)) <= room


def test_series_of_unequal_length_are_refused():
    with pytest.raises(BadInput, match=r"^figure 'A title', series 'a': .* lengths \[1, 2\]"):
        draw(figure("line", Series("a", (1.0, 2.0), (1.0,))))
