"""The page: one HTML file that holds all it shows, without scripts and without a request to anywhere."""

import re
import shlex
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from lostcfr import __version__
from lostcfr.config_file import to_yaml
from lostcfr.errors import ResourceError
from lostcfr.report import tables
from lostcfr.report.chapters import Chapter, Panel, chapters
from lostcfr.report.history import History
from lostcfr.report.stylesheet import STYLESHEET
from lostcfr.run.checkpoint import BEST
from lostcfr.run.directory import CHECKPOINTS, CONFIG
from lostcfr.run.schedules import EXTENDED, REGULAR

INDEX = "index.html"
ICON = (  # of one colour that shows on light and dark
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path d="M1 14 6 8l3 3 6-9" fill="none" stroke="#0072B2" stroke-width="2.5"/></svg>'
)
PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$name - lostcfr</title>
<link rel="icon" href="$icon">
<style>
$stylesheet</style>
</head>
<body>
<header>
<h1>$name</h1>
$summary
<nav aria-label="Contents">$contents</nav>
</header>
<main>
$sections
</main>
<footer>$versions</footer>
</body>
</html>
""")


def write_report(history: History, folder: Path) -> Path:
    """Write the page and its pictures to a folder, which is made if need be; the path of the page.

    ResourceError where matplotlib is not installed or the disk refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = chapters(history)
        for chapter in found:
            for panel in chapter.panels:
                (folder / f"{panel.name}.png").write_bytes(panel.png)
        (folder / INDEX).write_text(html(history, found), encoding="utf-8")
    except OSError as error:
        raise ResourceError(
            f"the report cannot be written to {folder}: {error.strerror}; name another folder with --out"
        ) from error
    return folder / INDEX


def html(history: History, found: Sequence[Chapter]) -> str:
    """The text of the page; the same for the same run, whenever it is made."""
    sections = [
        section("Strength", "Figures of the run's own evaluations, over mirrored pairs.", tables.strength(history))
    ]
    below = {"Time": tables.time(history), "Play in traversals": tables.traversal(history)}
    for chapter in found:
        body = pictures(chapter.panels) + below.get(chapter.title, "")
        sections.append(section(chapter.title, chapter.sentence, body))
    sections += [configuration(history), reproduction(history)]
    titles = re.findall(r"<h2 id=\"(.*?)\">(.*?)</h2>", "".join(sections))
    return PAGE.substitute(
        name=escape(history.name),
        icon=data_uri(ICON.encode(), "image/svg+xml"),
        stylesheet=STYLESHEET,
        summary=tables.summary(history),
        contents=" ".join(f'<a href="#{anchor}">{title}</a>' for anchor, title in titles),
        sections="\n".join(sections),
        versions=escape(versions(history)),
    )


def section(title: str, sentence: str, body: str) -> str:
    """A heading that can be linked to, what to know, and the rest."""
    anchor = title.lower().replace(" ", "-")
    return f'<section>\n<h2 id="{anchor}">{escape(title)}</h2>\n<p>{escape(sentence)}</p>\n{body}\n</section>'


def pictures(panels: Sequence[Panel]) -> str:
    """Pictures side by side."""
    each = "\n".join(
        f'<figure><img src="{data_uri(panel.png, "image/png")}" alt="{escape(panel.alt)}"></figure>' for panel in panels
    )
    return f'<div class="panels">\n{each}\n</div>\n'


def data_uri(content: bytes, kind: str) -> str:
    """The content as an address that holds it."""
    return f"data:{kind};base64,{b64encode(content).decode()}"


def configuration(history: History) -> str:
    """The settings: first what is special about them, then all."""
    settings = escape(to_yaml(history.configuration))
    whole = f"<details><summary>All settings, as YAML</summary><pre>{settings}</pre></details>"
    body = f"{tables.changed(history.configuration)}\n{whole}"
    return section("Configuration", "Every setting is explained in docs/configuration.md.", body)


def reproduction(history: History) -> str:
    """The commands that come to this run and to its figures again."""
    commands = "\n".join(escape(command) for command in reproducing(history))
    sentence = (
        "The first command trains the same run anew, in another folder. The same networks and figures come out on the "
        "same kind of processor, device and versions of the packages."
    )
    return section("Reproduce", sentence, f'<pre class="commands">{commands}</pre>')


def reproducing(history: History) -> list[str]:
    """Commands for a shell; evaluations only where the checkpoint that was evaluated is there."""
    folder, seed = history.folder, history.configuration.seed
    device = f" --device {history.newest['state']['device']}" if history.newest else ""
    iterations = f"--set limits.iterations={history.iterations[-1]:.0f} --set limits.minutes=null"
    again = shlex.quote(f"{folder}-again")
    commands = [f"lostcfr train {shlex.quote(str(folder / CONFIG))} --run {again} {iterations}{device}"]
    evaluated = [history.evaluated(schedule) for schedule in (REGULAR, EXTENDED)]
    for manifest, place in ((history.newest, folder), (history.best, folder / CHECKPOINTS / BEST)):
        place_of = manifest["state"]["place"] if manifest else None
        # A checkpoint's place is the next iteration, unless that one is under way.
        iteration = place_of["iteration"] - 1 if place_of and place_of["phase"] == 0 else 0
        for rows in filter(None, (found.get(iteration) for found in evaluated)):
            agent = shlex.quote(f"{place}:{rows[0]['agent']}")
            against = ",".join(row["opponent"] for row in rows)
            commands.append(f"lostcfr evaluate {agent} --against {against} --pairs {rows[0]['pairs']} --seed {seed}")
    return commands


def versions(history: History) -> str:
    """What trained and what drew, in a sentence."""
    drawn = f"Drawn by lostcfr {__version__} after iteration {history.iterations[-1]:.0f}."
    if history.newest is None:
        return drawn
    state = history.newest["state"]
    minutes, device = state["place"]["seconds"] / 60, state["device"]
    trained = f"Trained by lostcfr {history.newest['lostcfr']} on {device}"
    return f"{trained}, {minutes:.1f} minutes with checkpoints. {drawn}"
