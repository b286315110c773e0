"""The report as a browser shows it, on a desk and on a phone; needs playwright and the system's Chromium."""

import pytest

from memclf.report import build, compare

PAIRS = (("vanilla", "efficientnet_lite0"), ("augmix", "efficientnet_lite0"), ("vanilla", "resnet18"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory, make_run):
    """A report and a comparison with as much in them as there can be, and names longer than screens are wide."""
    folder = tmp_path_factory.mktemp("pages")
    run = folder / "a_run_with_quite_a_long_name_that_has_no_place_to_break"
    few = {"corruptions": ("gaussian_noise", "elastic_transform"), "severities": (1, 5), "n": 60, "bounds": True}
    make_run(run, pairs=PAIRS, classes=["a_class_name_without_any_place_to_break_it", "b", "c"], finished=False, **few)
    return build(run), compare([run, run], folder / "out")


@pytest.mark.parametrize("width", [1280, 768, 390])
@pytest.mark.parametrize("which", [0, 1], ids=["report", "comparison"])
def test_the_page_never_scrolls_sideways(chromium, pages, width, which):
    page = chromium.new_page(viewport={"width": width, "height": 844})
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    page.goto(pages[which].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every(each => !each.complete || each.naturalWidth > 0)")
    assert not problems
    page.close()


def test_wide_tables_scroll_in_their_own_box_and_keep_their_first_column(chromium, pages):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages[0].as_uri())
    moved = page.evaluate(
        """() => {
            const box = document.querySelector('#contenders .box'), first = box.querySelector('tbody th')
            const before = first.getBoundingClientRect().left
            box.scrollLeft = 200
            return [box.scrollLeft, Math.abs(first.getBoundingClientRect().left - before)]
        }"""
    )
    assert moved[0] == 200
    assert moved[1] < 2
    page.close()


def test_the_opening_fits_a_phone_without_scrolling(chromium, pages):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages[0].as_uri())
    box = "document.querySelector('#opening .box')"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    page.close()


def test_the_contents_stay_within_reach_on_a_phone(chromium, pages):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages[0].as_uri())
    page.evaluate("window.scrollTo(0, 4000)")
    page.click("nav a[href='#settings']")
    page.wait_for_function("document.querySelector('#settings').getBoundingClientRect().top < 844", timeout=5000)
    assert page.locator("nav.contents").bounding_box()["y"] == 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chart_of_contenders_can_be_read_on_a_phone(chromium, pages, scheme):
    """Letters are large enough and stand out from the page."""
    page = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page.goto(pages[0].as_uri())
    letters = page.evaluate(
        """() => [...document.querySelectorAll('#headline .narrow text')].map(each => {
            const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
            const light = colour => parts(colour).reduce((sum, part) => sum + part, 0) / 765
            const back = getComputedStyle(document.body).backgroundColor
            return [each.getBoundingClientRect().height, Math.abs(light(getComputedStyle(each).fill) - light(back))]
        })"""
    )
    assert len(letters) > 20
    assert min(height for height, _ in letters) > 8
    assert min(contrast for _, contrast in letters) > 0.25
    page.close()


def test_confusions_show_all_their_columns_on_a_phone(chromium, pages):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages[0].as_uri())
    box = "document.querySelector('.fit.five').parentElement"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    page.close()
