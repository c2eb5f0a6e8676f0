"""The report in a browser: headless Chromium opens it, draws every picture, and has nothing to complain of."""

import re
import shutil
import subprocess

import pytest

from lostcfr.report.history import read_history
from lostcfr.report.page import write_report
from made_up_rows import OPPONENTS, evaluation, metrics, write_rows

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=5000",
    "--dump-dom",
)
# Says on the console what only a browser knows: pictures that are shown, the width, and the colours.
PROBE = """<script>addEventListener("load", () => {
  const images = [...document.images], root = document.documentElement;
  const shown = images.filter(image => image.naturalWidth > 100).length;
  const light = getComputedStyle(images[0]).filter === "none";
  console.log(`${shown} of ${images.length} pictures`);
  console.log(`${root.scrollWidth} of ${innerWidth} pixels, ${light ? "light" : "dark"}`);
});</script>"""


def console(path, folder, *flags):
    """Texts on the console of a page that is opened with a new profile in ``folder``."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "this test needs Chromium: apt-get install chromium"
    command = [browser, *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "</html>" in done.stdout, done.stderr
    return re.findall(r'CONSOLE.*?\] "(.*)", source', done.stderr)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with every kind of picture."""
    folder = tmp_path_factory.mktemp("run")
    rows = [evaluation(n, opponent, n / 2) for n in range(2, 13, 2) for opponent in OPPONENTS]
    rows += [evaluation(12, "random", 6.5, schedule="extended")]
    write_rows(folder, [metrics(n) for n in range(1, 13)], rows)
    return write_report(read_history(folder), folder / "report")


def with_more(page, more, folder):
    """A copy of the page with more at its end."""
    copy = folder / "index.html"
    copy.write_text(page.read_text().replace("</body>", f"{more}</body>"))
    return copy


def test_the_page_opens_without_a_word_on_the_console(page, tmp_path):
    assert console(page, tmp_path) == []


def test_an_error_would_be_seen(page, tmp_path):
    (text,) = console(with_more(page, "<script>nothing()</script>", tmp_path), tmp_path)
    assert text == "Uncaught ReferenceError: nothing is not defined"


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_every_picture_is_shown_and_the_page_fits_its_window(page, tmp_path, scheme):
    prefers = f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}"
    pictures, width = console(with_more(page, PROBE, tmp_path), tmp_path, prefers, "--window-size=500,900")
    there = page.read_text().count("<img ")
    assert there >= 20
    assert pictures == f"{there} of {there} pictures"
    assert width == f"500 of 500 pixels, {scheme}"


def test_a_missing_picture_would_be_seen(page, tmp_path):
    more = '<img src="missing.png" alt="">' + PROBE
    pictures, _ = console(with_more(page, more, tmp_path), tmp_path)
    there = page.read_text().count("<img ")
    assert pictures == f"{there} of {there + 1} pictures"
