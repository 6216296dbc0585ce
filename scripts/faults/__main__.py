"""Faults of all kinds, tried on the installed package: python scripts/faults [CASE...], --record for the guide.

Each case is a function that yields what was done, what is expected, what happened, and whether it held. A case that
cannot be run on this machine is recorded as not run, with the reason. For Linux; as root more of them run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from faults import damage, endings, harness, inputs, kernelcaches, outputs, workers
from faults.table import RECORDED

from xmceval.version import VERSION

CASES = {
    case.__name__: case for module in (outputs, inputs, endings, damage, kernelcaches, workers) for case in module.CASES
}


def main() -> None:
    """Try the cases, print what happened, and record it; the exit code is 1 if one did not hold."""
    parser = argparse.ArgumentParser(prog="python scripts/faults", description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all of them unless named: {', '.join(CASES)}")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.relative_to(harness.ROOT)}")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"there is no case {', '.join(sorted(unknown))}")
    harness.warm_up()
    tried = []
    has_failed = False
    for name in options.cases or CASES:
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder, harness.sample_folder(Path(folder) / "case"):
            found = harness.summarize(name, CASES[name]())
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
        for each in found:
            has_failed |= each["held"] != each["tries"]
            print(f"  {each['held']} of {each['tries']}  {each['what']}: {each['happened']}", flush=True)
        tried += found
    if options.record:
        again = {each["case"] for each in tried}
        kept = json.loads(RECORDED.read_text())["cases"] if RECORDED.exists() else []
        entries = [each for each in kept if each["case"] not in again] + tried
        order = [name.replace("_", " ") for name in CASES]
        entries.sort(key=lambda each: order.index(each["case"]))
        machine = {"system": platform.system(), "python": platform.python_version()}
        recorded = {"version": VERSION, "machine": machine, "cases": entries}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    sys.exit(has_failed)


if __name__ == "__main__":
    main()
