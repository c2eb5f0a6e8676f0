"""Compare a pytest-benchmark result with the committed baseline, as ratios to the calibration loop of each run.

python bench/compare.py build/bench.json            compare; exit code 1 if something is slower than TOLERANCE
python bench/compare.py build/bench.json --write    make this result the baseline
"""

import json
import sys
from pathlib import Path

BASELINE = Path(__file__).parent / "baseline.json"
TOLERANCE = 1.5  # times the baseline's ratio: other jobs on a shared machine alone make 1.4


def ratios(result):
    """Nanoseconds a unit divided by nanoseconds a calibration step, and units a second, by benchmark."""
    rows = {}
    for row in result["benchmarks"]:
        extra = row["extra_info"]
        seconds = row["stats"]["median"]
        rows[row["name"]] = {
            "ratio": round(seconds / extra["units"] / extra["calibration_seconds"] * 1e6, 3),
            "units_per_second": round(extra["units"] / seconds),
        }
    return rows


def main():
    path, *options = sys.argv[1:]
    now = ratios(json.loads(Path(path).read_text()))
    if options == ["--write"]:
        BASELINE.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        print(f"{len(now)} ratios written to {BASELINE.name}")
        return
    before, slower = json.loads(BASELINE.read_text()), []
    print(f"{'benchmark':52}{'units/s':>14}{'ratio':>10}{'baseline':>10}{'change':>8}")
    for name, row in now.items():
        base = before.get(name, {}).get("ratio")
        change = row["ratio"] / base if base else None
        if change is not None and change > TOLERANCE:
            slower.append(name)
        columns = f"{base or 'new':>10}{f'{change:.2f}' if change else '':>8}"
        print(f"{name:52}{row['units_per_second']:14,}{row['ratio']:10.3f}{columns}")
    missing = sorted(set(before) - set(now))
    print(json.dumps({"slower": slower, "missing": missing, "tolerance": TOLERANCE}))
    sys.exit(bool(slower))


main()
