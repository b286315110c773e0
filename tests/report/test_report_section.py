"""A section is data: one function and one entry in the list, and page, Markdown and files have it."""

from memclf.report import build, contents
from memclf.report.section import Chart, Code, Folded, Heading, Section, Terms, Text
from memclf.report.tables import Column, Number, Table

RUN = {"corruptions": ("fog",), "severities": (1,), "exhibits": False, "n": 30, "skill": {"memory": (0.9, 0.06)}}


def weather(run, folder):
    """A section with every kind of block but pictures."""
    table = Table("weather", "Weather & <wind>", [Column("Day"), Column("Rain")], [["Monday", Number(0.25)]])
    chart = Chart("weather", "Rain", "Bars of rain.", ("<svg>wide</svg>", "<svg>narrow</svg>"), "Rain by day.")
    blocks = [
        Text("It rains.", lead="Mind <this>.", lines=["cats", "dogs"], style="alert"),
        Heading("By day"),
        table,
        chart,
        Terms([("rain", "Water from above.")]),
        Folded("Small print", [Code("memclf rain")]),
    ]
    return Section("weather", "Weather", blocks, short="Rain")


def test_section__one_function_and_one_entry__is_on_the_page_in_markdown_and_in_files(made, monkeypatch):
    monkeypatch.setattr(contents, "SECTIONS", (*contents.SECTIONS, weather))
    run = made(**RUN)
    page = build(run).read_text(encoding="utf-8")
    markdown = (run / "report.md").read_text(encoding="utf-8")
    assert '<a href="#weather">Rain</a>' in page
    assert '<section id="weather">' in page
    assert "## Weather" in markdown
    for text in ("It rains.", "cats", "By day", "25.0", "Rain by day.", "Water from above.", "memclf rain"):
        assert text in page
        assert text in markdown
    assert "![Bars of rain.](figures/weather.png)" in markdown
    assert "narrow</svg>" in page
    for text in (page, markdown):
        assert "<this>" not in text
        assert "<wind>" not in text
    assert (run / "tables" / "weather.csv").read_text() == "Day,Rain\nMonday,25.00\n"


def test_section_without_anything_to_show_is_left_out(made, monkeypatch):
    monkeypatch.setattr(contents, "SECTIONS", (*contents.SECTIONS, lambda run, folder: None))
    assert "None" not in build(made(**RUN)).read_text(encoding="utf-8")
