"""Writes `divergences.yaml` of an adapter out of its `causes.toml` and a report of `broadcheck check --format json`.

    broadcheck check --impl numpy --format json | python3 adapters/pin.py numpy

A cause has an id, a kind, a link, a reason, and `when`: regular expressions for the case's id, for the aspect, for what
was expected and what was observed, of which those that are given must be found in a difference. Where no answer came,
the aspect is `broken`, and observed is the fault. A case belongs to the first cause that explains every difference of
it. What none explains is told on standard error and stays a failure. With `unwritten = true` the elements are memory
that nobody has written to, and are not pinned.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

KINDS = ("bug", "unsupported", "by-design", "documentation")


def explains(cause, case, difference):
    texts = {"case": case, **{part: difference[part] for part in ("aspect", "expected", "observed")}}
    return any(all(re.search(pattern, texts[part], re.S) for part, pattern in when.items()) for when in cause["when"])


def witness(case, ran):
    """The outcome of each value that differs; None if the report does not have it."""
    seen = {}
    for each in ran["outcome"]:
        seen.setdefault(each["value"], each["outcome"])
    names = {re.split(r"[. ]", difference["value"])[0] for difference in ran["verdict"]["differences"]}
    if not names <= seen.keys():
        return None
    return {"case": case, "observed": {name: seen[name] for name in sorted(names)}}


def without_elements(witness):
    """The same, with `*` for the elements of tensors, which hold memory that nobody has written to."""
    shape = re.compile(r"^(\w+ \[[\d, ]*\] ).*", re.S)
    return {**witness, "observed": {name: shape.sub(r"\1*", seen) for name, seen in witness["observed"].items()}}


def main(name, report):
    folder = Path(__file__).parent / name
    causes = tomllib.loads((folder / "causes.toml").read_text(encoding="utf-8"))["cause"]
    found = {cause["id"]: [] for cause in causes}
    (implementation,) = report["totals"]["implementations"]
    version = implementation["implementation"].split(" ", 1)[1]
    unexplained = 0
    for case in report["cases"]:
        (ran,) = case["implementations"].values()
        if ran["verdict"]["is"] == "diverges":
            sys.exit("the report has pinned divergences: make it without divergences.yaml")
        if ran["verdict"]["is"] == "failed":
            differences = ran["verdict"]["differences"]
            pinned = witness(case["id"], ran)
        elif ran["verdict"]["is"] == "broken":
            fault = ran["verdict"]["fault"]
            differences = [{"aspect": "broken", "expected": "an answer", "observed": fault}]
            pinned = {"case": case["id"], "broken": fault}
        else:
            continue
        of = next((c for c in causes if all(explains(c, case["id"], each) for each in differences)), None)
        if of is None or pinned is None:
            unexplained += 1
            aspect, expected, observed = (differences[0][part] for part in ("aspect", "expected", "observed"))
            print(f"{case['id']}: {aspect}: expected {expected[:80]}, observed {observed[:120]}", file=sys.stderr)
        else:
            found[of["id"]].append(without_elements(pinned) if of.get("unwritten") else pinned)
    made = f"Written by `adapters/pin.py {name}` from `causes.toml` and a run on {name} {version}; see `../README.md`."
    lines = [f"# {made}"]
    for cause in causes:
        assert cause["kind"] in KINDS, cause
        if not found[cause["id"]]:
            print(f"cause {cause['id']} explains nothing", file=sys.stderr)
            continue
        lines.append(f"- id: {cause['id']}")
        lines.append(f"  releases: [{json.dumps(version)}]")
        lines.append(f"  kind: {cause['kind']}")
        lines.append(f"  link: {cause['link']}")
        lines.append(f"  why: {json.dumps(' '.join(cause['why'].split()), ensure_ascii=False)}")
        lines.append("  witnesses:")
        lines += [f"    - {json.dumps(each, ensure_ascii=False)}" for each in found[cause["id"]]]
    (folder / "divergences.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cases, kinds = sum(map(len, found.values())), sum(map(bool, found.values()))
    print(f"{cases} cases under {kinds} causes, {unexplained} unexplained", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1], json.load(sys.stdin))
