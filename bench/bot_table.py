"""Measure the rule-based players against each other and write docs/bot-table.md.

    python bench/bot_table.py [PAIRS]

The original rules of these players know no stall limit; a round then ends after 1,000 decisions as it stands.
"""

import json
import sys
from pathlib import Path

from rich.progress import track

from lostcfr import LostCities, Rules
from lostcfr.agents import BOTS
from lostcfr.arena.match import play_pairs
from lostcfr.arena.stats import summary

PAGE = Path(__file__).parents[1] / "docs" / "bot-table.md"
SEED = 1


def measured(rules, pairs):
    """A summary for every ordered pair of players, the mirror matches among them."""
    game = LostCities(rules)
    cells = [(agent, opponent) for agent in BOTS for opponent in BOTS]
    return {
        cell: summary(*cell, play_pairs(game, *cell, pairs, SEED))
        for cell in track(cells, description=f"stall_limit {rules.stall_limit}")
    }


def table(rows):
    """Points of the row's player against the column's, with the half width of the 95 % interval."""
    yield "| | " + " | ".join(BOTS) + " | opens | own score in a mirror match | turns | forced draws |"
    yield "|---" * (len(BOTS) + 5) + "|"
    for agent in BOTS:
        cells = [cell(rows[agent, opponent]) if agent != opponent else "" for opponent in BOTS]
        mirror = rows[agent, agent]
        ends = f"{mirror['opened']:.2f} | {mirror['score']:.1f} | {mirror['turns']:.1f} | {mirror['stalled']:.1%}"
        yield f"| `{agent}` | " + " | ".join(cells) + f" | {ends} |"


def cell(row):
    low, high = row["ci95"]
    return f"{row['mean']:+.1f} ± {(high - low) / 2:.1f}"


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    lines = [
        "# The rule-based players against each other",
        "",
        f"Written by `python bench/bot_table.py {pairs}`: {pairs:,} mirrored pairs a cell, seed {SEED}. Points a round",
        "of the row's player, 95 % interval over pairs; the last four columns are of its mirror match.",
    ]
    for limit, title in (
        (None, "Without a stall limit, 1,000 decisions at most"),
        (10, "Classic rules, stall limit 10"),
    ):
        rows = measured(Rules(stall_limit=limit), pairs)
        lines += ["", f"## {title}", "", *table(rows)]
        print(
            json.dumps(
                {"stall_limit": limit, "pairs": pairs, "mean": {" ".join(k): r["mean"] for k, r in rows.items()}}
            )
        )
    PAGE.write_text("\n".join(lines) + "\n")


main()
