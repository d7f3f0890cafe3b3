"""Runs the snippets of adapters, each in the environment of its library, and compares what they print with what they say.

    python3 adapters/snippets.py numpy tfjs
    python3 adapters/snippets.py --broadcheck target/release/broadcheck numpy

A snippet shows one cause of `causes.toml`, in the library alone. A comment that begins with `prints:` is a line of what
it prints; so is every line of comment right after that. Every cause has a snippet.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def environment(broadcheck, name):
    """The folder of a library's environment, which is made if it is missing."""
    done = subprocess.run([*broadcheck, "impl", "install", "--quiet", name], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip().split(" is ready in ", 1)[1])


def promised(text):
    """What a snippet says that it prints: lines, without the marks of the comment."""
    lines, inside = [], False
    for line in text.splitlines():
        comment = re.match(r"(?:#|//) ?(prints: ?)?(.*)", line)
        inside = bool(comment and (comment[1] or inside))
        if inside:
            lines.append(comment[2].strip())
    return lines


def printed(snippet, home):
    """What it prints. Node looks for packages around the folder that a program is in, or that it is started in."""
    if snippet.suffix == ".mjs":
        command, text = ["node", "--input-type=module", "-"], snippet.read_text(encoding="utf-8")
    else:
        command, text = [home / "bin" / "python", snippet], None
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=home)
    return [line.strip() for line in done.stdout.strip().splitlines()], done.stderr


def wrong(name, broadcheck):
    """Everything that is wrong with the snippets of a library, and how many there are."""
    folder = HERE / name
    causes = {cause["id"] for cause in tomllib.loads((folder / "causes.toml").read_text(encoding="utf-8"))["cause"]}
    snippets = {path.stem: path for path in sorted((folder / "snippets").glob("*.*"))}
    faults = [f"{name}: no snippet shows {cause}" for cause in sorted(causes - snippets.keys())]
    faults += [f"{name}: {path.name} is of no cause" for stem, path in snippets.items() if stem not in causes]
    home = environment(broadcheck, name)
    for path in snippets.values():
        expected = promised(path.read_text(encoding="utf-8"))
        observed, stderr = printed(path, home)
        if expected != observed:
            faults.append(f"{name}: {path.name} says {expected} and prints {observed} {stderr.strip()[-300:]}")
    return faults, len(snippets)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broadcheck", default="cargo run --release --quiet --", help="the command of broadcheck")
    parser.add_argument("names", nargs="+", help="the names of adapters, as `broadcheck impl list` prints them")
    given = parser.parse_args()
    failed = False
    for name in given.names:
        faults, count = wrong(name, given.broadcheck.split())
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f"{name}: {count} snippets, {len(faults)} faults")
        failed |= bool(faults) or not count
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
