"""Every page, for those who see, hear or point otherwise: axe-core finds no serious fault."""

import pytest

PAGES = (
    "/data",
    "/numbers",
    "/data?only=broken",
    "/nowhere",
    "/stress",
    "/edit",
    "/edit/memory/0",
    "/edit/case/0",
    "/teach",
    "/teach/0",
    "/teach/measurements",
    "/compare",
    "/memories",
    "/memories/0",
    "/why",
    "/why/case/0",
    "/unknown",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault(chromium, live, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    context = chromium.new_context(base_url=live.address, color_scheme=scheme)
    page = context.new_page()
    found = []
    for address in PAGES:
        page.goto(address)
        violations = axe.run(page).response["violations"]
        found += [
            (address, each["id"], each["nodes"][0]["html"][:200])
            for each in violations
            if each["impact"] in ("serious", "critical")
        ]
    context.close()
    assert not found


@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_scrolls_sideways(chromium, live, width):
    context = chromium.new_context(base_url=live.address, viewport={"width": width, "height": 800})
    page = context.new_page()
    wide = []
    for address in PAGES:
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wide.append(address)
    context.close()
    assert not wide
