"""The report of a run: what is on the page equals the rows, for runs of many shapes, and nothing else is needed."""

import json
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from html.parser import HTMLParser

import pytest

from lostcfr.drawing import STYLE
from lostcfr.errors import EXIT_CHECKPOINT, EXIT_CONFIGURATION, EXIT_RESOURCES
from lostcfr.report import tables
from lostcfr.report.chapters import chapters
from lostcfr.report.history import read_history
from lostcfr.report.page import html, reproducing
from made_up_rows import OPPONENTS, evaluation, metrics, write_rows
from small_runs import command, configuration, train

PNG = b"\x89PNG\r\n\x1a\n"
VOID = {"meta", "link", "img"}
ADDRESSES = {"src", "href", "srcset", "action", "data"}


class Page(HTMLParser):
    """Elements, tables and texts of a page; every element has to be closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.tables, self.texts, self.title = [], [], {}, [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.tables.setdefault(self.title, []).append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "h3":
            self.title = data
        if inside in ("td", "th"):
            self.tables[self.title][-1].append(data)
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def rows(self, title):
        """Rows of a table as mappings from column to figure."""
        head, *body = self.tables[title]
        return [dict(zip(head, row, strict=True)) for row in body]


def page_of(folder):
    history = read_history(folder)
    return Page(html(history, chapters(history)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A real run."""
    folder = tmp_path_factory.mktemp("small") / "run"
    assert train(folder, configuration()) == 0
    return folder


@pytest.fixture(scope="module")
def page(run):
    return page_of(run)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two opponents and views, the best evaluation not the newest, an extended evaluation, a name to escape.

    The first evaluation is no rival of the others: it is of another view.
    """
    rows = [
        evaluation(1, "random", 99.0),
        evaluation(1, "discard-only", 33.0),
        evaluation(2, "random", 9.0, agent="mixture"),
        evaluation(2, "discard-only", 3.0, agent="mixture"),
        evaluation(4, "random", 2.0, agent="mixture"),
        evaluation(4, "discard-only", 1.0, agent="mixture"),
        evaluation(4, "random", 30.0, agent="mixture", schedule="extended", pairs=5000),
    ]
    folder = tmp_path_factory.mktemp("many") / "a<b>&'c'"
    return write_rows(folder, [metrics(n) for n in range(1, 6)], rows)


@pytest.fixture(scope="module")
def many_page(many):
    """The text of its page."""
    history = read_history(many)
    return html(history, chapters(history))


def test_everything_that_the_page_needs_is_in_it(page):
    addresses = [value for _, found in page.elements for name, value in found.items() if name in ADDRESSES]
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "iframe", "object", "video", "base"})
    assert "url(" not in "".join(page.texts)
    assert "@import" not in "".join(page.texts)
    (icon,) = page.all("link")
    assert icon["rel"] == "icon"
    images = page.all("img")
    assert len(images) >= 15
    for image in images:
        assert b64decode(image["src"].removeprefix("data:image/png;base64,")).startswith(PNG)
        assert len(image["alt"]) > 20


def test_links_lead_to_headings(page):
    headings = [heading["id"] for heading in page.all("h2")]
    assert [link["href"] for link in page.all("a")] == [f"#{each}" for each in headings]
    assert len(set(headings)) == len(headings) >= 8


def test_the_figures_are_those_of_the_rows(run, page):
    evaluations = [json.loads(line) for line in (run / "evaluations.jsonl").read_text().splitlines()]
    newest = [row for row in evaluations if row["iteration"] == 4]
    (title,) = [title for title in page.tables if title.lower().startswith("newest") and "iteration 4" in title]
    shown = page.rows(title)
    assert len(shown) == len(newest) == 2
    for row, cells in zip(newest, shown, strict=True):
        low, high = row["ci95"]
        assert cells["against"] == row["opponent"]
        assert cells["points a round"] == f"{row['mean']:+.1f}"
        assert cells["95 % interval"] == f"{low:+.1f} .. {high:+.1f}"
        assert (cells["won"], cells["lost"]) == (f"{row['win']:.1%}", f"{row['loss']:.1%}")
        assert (cells["opened"], cells["pairs"]) == (f"{row['opened']:.2f}", "8")


def test_time_is_split_as_in_the_rows(many):
    page = Page(tables.time(read_history(many)))
    shares = {row["phase"]: row["share"] for row in page.rows("Time by phase")}
    assert shares == {"collect": "50%", "advantage-0": "25%", "strategy": "17%", "evaluate": "8%"}
    assert {row["phase"]: row["minutes"] for row in page.rows("Time by phase")}["collect"] == "0.5"


def test_newest_best_and_extended_evaluations_stand_apart(many_page):
    page = Page(many_page)
    newest = page.rows("Newest evaluation: the mixture after iteration 4")
    best = page.rows("Best evaluation: the mixture after iteration 2")
    extended = page.rows("Newest extended evaluation: the mixture after iteration 4")
    assert [row["points a round"] for row in newest + best + extended] == ["+2.0", "+1.0", "+9.0", "+3.0", "+30.0"]
    assert extended[0]["pairs"] == "5,000"
    assert extended[0]["entropy"] == "-"
    (alt,) = [image["alt"] for image in page.all("img") if "ahead of random" in image["alt"]]
    assert "mixture, extended: 30 at iteration 4." in alt


def test_the_best_is_that_of_the_deciding_schedule(tmp_path):
    """It is the earlier one of equals, as in the run itself."""
    means = {2: 3.0, 4: 8.0, 6: 8.0, 8: 5.0}
    extended = [evaluation(n, "random", mean, schedule="extended") for n, mean in means.items()]
    regular = [evaluation(n, "random", -mean) for n, mean in means.items()]
    rows = [metrics(n) for n in range(1, 9)]
    for overrides, expected in (
        (
            ["extended_evaluation.every=2"],
            ["Newest evaluation 8", "Newest extended evaluation 8", "Best extended evaluation 4"],
        ),
        ([], ["Newest evaluation 8", "Best evaluation 2", "Newest extended evaluation 8"]),
    ):
        folder = write_rows(tmp_path / str(len(overrides)), rows, [*regular, *extended], overrides)
        titles = Page(tables.strength(read_history(folder))).tables
        assert [re.sub(": .* iteration", "", title) for title in titles] == expected


def test_texts_are_escaped(many_page):
    page = Page(many_page)
    assert "a<b>&'c'" in page.texts
    assert page.all("b") == []


def test_only_what_differs_from_the_defaults_comes_first(page):
    settings = {
        row["setting"]: (row["value"], row["default"]) for row in page.rows("Settings that differ from the defaults")
    }
    assert settings["network.hidden"] == ("16", "512")
    assert "seed" not in settings
    assert any("all_negative: argmax" in text for text in page.texts)


@pytest.mark.parametrize(("iterations", "evaluated"), [(1, ()), (1, (1,)), (60, (1, 60))])
def test_runs_of_any_length_have_a_page(tmp_path, monkeypatch, iterations, evaluated):
    monkeypatch.setitem(STYLE, "savefig.dpi", 50)  # quick
    rows = [evaluation(n, opponent, 1.0) for n in evaluated for opponent in OPPONENTS]
    page = page_of(write_rows(tmp_path / "run", [metrics(n) for n in range(1, iterations + 1)], rows))
    assert ("This run has not been evaluated yet." in page.texts) == (not evaluated)
    assert sum("ahead of" in image["alt"] for image in page.all("img")) == bool(evaluated) * len(OPPONENTS)


def test_rows_that_say_less_have_fewer_pictures(tmp_path):
    bare = {"iteration": 1, "times": {"collect": 1.0}}
    page = page_of(write_rows(tmp_path / "run", [bare]))
    assert len(page.all("img")) == 1
    assert page.rows("Time by phase")[0]["share"] == "100%"


def test_equal_rows_make_equal_bytes(many, many_page, tmp_path):
    """Pictures too: the page holds them."""
    code, _, complaint = command("report", many, "--out", tmp_path / "out")
    assert code == 0, complaint
    assert (tmp_path / "out" / "index.html").read_text() == many_page
    pictures = [b64encode(path.read_bytes()).decode() for path in (tmp_path / "out").glob("*.png")]
    assert len(pictures) == len(Page(many_page).all("img"))
    assert all(f"base64,{picture}" in many_page for picture in pictures)


def test_the_command_writes_beside_the_run_and_changes_nothing_else(run):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    done = subprocess.run(
        [sys.executable, "-m", "lostcfr", "report", str(run)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    where, begun, *opponents = done.stdout.splitlines()
    assert where == str(run / "report" / "index.html")
    assert begun.startswith("4 iterations in 0.")
    assert [line.split(" against ")[1].split(" (")[0] for line in opponents] == ["random", "balanced"]
    after = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before
    assert {path.parent for path in after.keys() - before.keys()} == {run / "report"}


def test_the_commands_on_the_page_come_to_the_same_figures(run):
    training, *evaluations = reproducing(read_history(run))
    assert training.startswith(f"lostcfr train {run}/config.yaml --run {run}-again --set limits.iterations=4 ")
    rows = [json.loads(line) for line in (run / "evaluations.jsonl").read_text().splitlines()]
    assert len(evaluations) == 2
    for each in evaluations:
        code, printed, complaint = command(*each.split()[1:], "--json")
        assert code == 0, complaint
        for found in json.loads(printed):
            assert any(found["mean"] == row["mean"] and found["ci95"] == row["ci95"] for row in rows)


def test_a_folder_that_is_no_run_is_told(tmp_path):
    empty = write_rows(tmp_path / "empty", [])
    strange = write_rows(tmp_path / "strange", [{"step": 1}])
    wrong = write_rows(tmp_path / "wrong", [metrics(1)])
    (wrong / "config.yaml").write_text("sed: 1\n")
    cases = [
        (tmp_path / "none", EXIT_CHECKPOINT, "holds no run: there is no config.yaml in it"),
        (empty, EXIT_CHECKPOINT, "has no finished iteration yet"),
        (strange, EXIT_CHECKPOINT, "metrics.jsonl:1 is no row of a run: it has no 'iteration'"),
        (wrong, EXIT_CONFIGURATION, "did you mean 'seed'"),
    ]
    for folder, code, message in cases:
        found, printed, complaint = command("report", folder)
        assert (found, printed, message in complaint) == (code, "", True), complaint
        assert complaint.count("\n") == 1
        assert not (folder / "report").exists()


def test_what_a_report_cannot_do_without_is_told(many, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    code, _, complaint = command("report", many, "--out", tmp_path / "file")
    assert (code, "name another folder with --out" in complaint) == (EXIT_RESOURCES, True)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, complaint = command("report", many, "--out", tmp_path / "out")
    assert (code, "pip install 'lostcfr[plots]'" in complaint) == (EXIT_RESOURCES, True)
    assert not (tmp_path / "out").exists()
