"""Writes an adapter's `divergences.yaml`, the cases that show each of the causes in its `causes.toml`, from a JSON report
without known differences.

    broadcheck check --impl numpy --no-divergences --format json | python3 adapters/pin.py numpy

A cause has an id, a kind, a link, a reason, and `when`: regular expressions for the case's id, the aspect, the expected
and the observed text. A difference matches if all that are given are found in it. If the adapter did not answer, the
aspect is `broken`, and the observed text is the fault. A case belongs to the first cause that explains all its
differences; each value that differs is pinned in each aspect that differs. A case that no cause explains is reported on
standard error and stays a failure. With `unwritten = true` the elements are uninitialized memory and are not pinned.
With `until = "TEXT"` an observed text is pinned as far as that, since a number of the run follows.
`applies` and `signature`, by which a campaign knows the cause, are for broadcheck, which reads them from `causes.toml`
(`README.md` has the vocabulary); a cause that has them needs no case. `inherits = ["pytorch"]` appends the causes of that
adapter, such as those of the front end for a mode of PyTorch.
What a front end of PyTorch has from libtorch is known already, and is not written again.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

ADAPTERS = Path(__file__).parent
KINDS = ("bug", "unsupported", "by-design", "documentation")


def explains(cause, case, difference):
    texts = {"case": case, **{part: difference[part] for part in ("aspect", "expected", "observed")}}
    return any(all(re.search(pattern, texts[part], re.S) for part, pattern in when.items()) for when in cause["when"])


def observed(exact, value, aspect):
    """One aspect of a value, in the text that the harness compares with a pin (`observed` in
    `src/harness/model/divergence/witness.rs`)."""
    found = next((each for each in exact if each["value"] in (value, f"{value} after")), None)
    if found is None:
        # Several results have a name each.
        parts = [each["value"] for each in exact if each["value"].startswith(f"{value}.")]
        return "; ".join(observed(exact, part, aspect) for part in parts) or "unchanged"
    if aspect == "warnings":
        texts = found.get("warnings", [])
        categories = [f"{category}: " for category in found.get("categories", [])]
        categories += [""] * (len(texts) - len(categories))
        return " | ".join(category + text for category, text in zip(categories, texts))
    ((kind, outcome),) = found["is"].items()
    match kind, aspect:
        case "tensor", "shape":
            return str(outcome["shape"])
        case "tensor", "dtype":
            return outcome["dtype"]
        case "tensor", "strides":
            return str(outcome["strides"]) if "strides" in outcome else "not told"
        case "tensor", "aliasing":
            return outcome["storage"]
        case "tensor", "values":
            return outcome["elements"]
        case "tensor", _:
            return f"{outcome['dtype']} {outcome['shape']} {outcome['elements']}"
        case "rejected", "class":
            return outcome.get("class", "unknown")
        case "rejected", "message":
            return outcome["message"]
        case "rejected", "raises":
            return outcome.get("raises", "not told")
        case "rejected", _:
            return f"rejected: {outcome['message']}"
        case "other", _:
            return outcome
        case "not_run", _:
            return f"not run: {outcome['missing']} is missing"
        case "unsupported", _:
            return f"unsupported: {outcome}"
        case "failed", _:
            return f"the adapter failed: {outcome}"
    sys.exit(f"the report has an outcome of the unknown kind {kind}")


def without_elements(exact):
    """The same outcomes, with `*` for the elements of tensors, which are uninitialized memory."""

    def blank(outcome):
        return {"tensor": {**outcome["tensor"], "elements": "*"}} if "tensor" in outcome else outcome

    return [{**each, "is": blank(each["is"])} for each in exact]


def witness(case, ran, unwritten):
    """The pin of a case: for each value, each aspect that differs."""
    exact = without_elements(ran["exact"]) if unwritten else ran["exact"]
    pinned = {}
    for difference in ran["verdict"]["differences"]:
        value, aspect = difference["value"].removesuffix(" after"), difference["aspect"]
        pinned.setdefault(value, {})[aspect] = observed(exact, value, aspect)
    return {"case": case, "observed": {value: pinned[value] for value in sorted(pinned)}}


def causes_of(name):
    """The causes of an adapter, then those that it inherits, each id once."""
    described = tomllib.loads((ADAPTERS / name / "causes.toml").read_text(encoding="utf-8"))
    causes = {cause["id"]: cause for cause in described.get("cause", [])}
    for other in described.get("inherits", []):
        for cause in causes_of(other):
            causes.setdefault(cause["id"], {**cause, "inherited": True})
    return list(causes.values())


def up_to(end, seen):
    """The witness, with each of its texts as far as `end`."""
    if end is None:
        return seen

    def cut(texts):
        return {aspect: text[: text.index(end) + len(end)] + "*" if end in text else text for aspect, text in texts.items()}

    return {**seen, "observed": {value: cut(texts) for value, texts in seen["observed"].items()}}


def by_processors(name):
    """The witnesses that are written already and that some processors do not show, by case. A run on such a processor
    keeps them."""
    file = ADAPTERS / name / "divergences.yaml"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    witnesses = [json.loads(line.strip()[2:]) for line in lines if line.strip().startswith('- {"case"')]
    return {each["case"]: each for each in witnesses if "some_processors" in each}


def main(name, report):
    causes = causes_of(name)
    found = {cause["id"]: [] for cause in causes}
    kept = by_processors(name)
    (implementation,) = report["totals"]["implementations"]
    version = implementation["implementation"].split(" ", 1)[1]
    unexplained = 0
    for case in report["cases"]:
        (ran,) = case["implementations"].values()
        if ran["verdict"]["is"] == "diverges" and not name.startswith("pytorch"):
            sys.exit("the report was made with known differences: make it with --no-divergences")
        if ran["verdict"]["is"] == "passed" and case["id"] in kept:
            differences = [{"aspect": "values", "expected": "", "observed": ""}]
            of = next(c for c in causes if all(explains(c, case["id"], each) for each in differences))
            found[of["id"]].append(kept[case["id"]])
            continue
        if ran["verdict"]["is"] == "failed":
            differences = ran["verdict"]["differences"]
        elif ran["verdict"]["is"] == "broken":
            fault = ran["verdict"]["fault"]
            differences = [{"aspect": "broken", "expected": "an answer", "observed": fault}]
        else:
            continue
        of = next((c for c in causes if all(explains(c, case["id"], each) for each in differences)), None)
        if of is None:
            unexplained += 1
            aspect, expected, seen = (differences[0][part] for part in ("aspect", "expected", "observed"))
            print(f"{case['id']}: {aspect}: expected {expected[:80]}, observed {seen[:120]}", file=sys.stderr)
        elif ran["verdict"]["is"] == "broken":
            # The answer that broke the protocol has its number in the run.
            found[of["id"]].append({"case": case["id"], "broken": re.sub(r': "\{.*', "", fault, flags=re.S)})
        else:
            seen = up_to(of.get("until"), witness(case["id"], ran, of.get("unwritten", False)))
            reason = {key: kept[case["id"]][key] for key in ("some_processors",) if case["id"] in kept}
            found[of["id"]].append({**seen, **reason})
    made = f"Written by `adapters/pin.py {name}` from `causes.toml` and a run on {name} {version}; see `../README.md`."
    shown = "witnesses:" if any(found.values()) else "witnesses: {}"
    lines = [f"# {made}", f"releases: [{json.dumps(version)}]", shown]
    for cause in causes:
        assert cause["kind"] in KINDS, cause
        if found[cause["id"]]:
            lines.append(f"  {cause['id']}:")
            lines += [f"    - {json.dumps(each, ensure_ascii=False)}" for each in found[cause["id"]]]
        elif not cause.get("inherited", False) and "applies" not in cause:
            print(f"cause {cause['id']} explains nothing", file=sys.stderr)
    (ADAPTERS / name / "divergences.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cases, kinds = sum(map(len, found.values())), sum(map(bool, found.values()))
    print(f"{cases} cases under {kinds} causes, {unexplained} unexplained", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1], json.load(sys.stdin))
