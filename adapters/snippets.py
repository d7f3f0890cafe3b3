"""Runs the snippets of adapters, each in the environment of its library, and compares what they print and say.

    python3 adapters/snippets.py numpy tfjs
    python3 adapters/snippets.py --broadcheck target/release/broadcheck numpy

A snippet shows one cause of an adapter's `causes.toml`, in the library alone: `reports/findings/numpy/CAUSE.py`. A
comment that begins with `prints:` is a line of what it prints; so is every line of comment right after that. Every
cause has one. Where two adapters share an environment, and a cause, the other one's is enough. Those in Rust are modules
of one program, which is built beside the adapter with what that depends on, so that they are compiled and linked at once.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parent
FINDINGS = ADAPTERS.parent / "reports" / "findings"


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


def built(folder, snippets, home):
    """The program that runs each Rust snippet by its name."""
    name = f"snippets-{folder.name}"
    manifest = (folder / "Cargo.toml").read_text(encoding="utf-8")
    manifest = re.sub(r"^name = .*", f'name = "{name}"', manifest, count=1, flags=re.M)
    # broadcheck stays, unused, so that its crates have the features that they were built with.
    manifest = manifest.replace('"../.."', json.dumps(str(folder.parent.parent)))
    package = home / "snippets"
    (package / "src").mkdir(parents=True, exist_ok=True)
    (package / "Cargo.toml").write_text(manifest, encoding="utf-8")
    shutil.copy(folder / "Cargo.lock", package)
    module = "mod s%d { include!(%s); pub fn run() -> impl std::process::Termination { main() } }"
    modules = [module % (at, json.dumps(str(each))) for at, each in enumerate(snippets)]
    arms = [f"Some({json.dumps(each.stem)}) => s{at}::run().report()," for at, each in enumerate(snippets)]
    arms.append('other => panic!("{other:?} is no snippet"),')
    main = ["use std::process::Termination;", "fn main() -> std::process::ExitCode {"]
    main += ["match std::env::args().nth(1).as_deref() {", *arms, "} }"]
    (package / "src" / "main.rs").write_text("\n".join([*modules, *main]), encoding="utf-8")
    target = home.parents[2] / "build"
    build = ["cargo", "build", "--quiet", "--release", "--manifest-path", package / "Cargo.toml", "--target-dir", target]
    if subprocess.run(build).returncode:
        sys.exit(f"{folder.name}: its snippets do not compile")
    return shutil.copy(target / "release" / name, package / name)


def printed(snippet, home, program):
    """What it prints. Node looks for packages around the folder that a program is in, or that it is started in."""
    if snippet.suffix == ".rs":
        command, text = [program, snippet.stem], None
    elif snippet.suffix == ".mjs":
        command, text = ["node", "--input-type=module", "-"], snippet.read_text(encoding="utf-8")
    else:
        command, text = [home / "bin" / "python", snippet], None
    variables = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=home, env=variables)
    return [line.strip() for line in done.stdout.strip().splitlines()], done.stderr


def described(name, file):
    return tomllib.loads((ADAPTERS / name / file).read_text(encoding="utf-8"))


def snippets_of(name):
    """The snippets of an adapter by the causes that they show."""
    return {path.stem: path for path in sorted((FINDINGS / name).glob("*.*"))}


def wrong(name, broadcheck):
    """Everything that is wrong with the snippets of an adapter; how many there are, and how many are another one's."""
    causes = {cause["id"] for cause in described(name, "causes.toml")["cause"]}
    snippets = snippets_of(name)
    lacking = causes - snippets.keys()
    shared = lacking & snippets_of(described(name, "adapter.toml").get("environment", name)).keys()
    faults = [f"{name}: no snippet shows {cause}" for cause in sorted(lacking - shared)]
    faults += [f"{name}: {path.name} is of no cause" for stem, path in snippets.items() if stem not in causes]
    home = environment(broadcheck, name)
    rust = [path for path in snippets.values() if path.suffix == ".rs"]
    program = built(ADAPTERS / name, rust, home) if rust else None
    for path in snippets.values():
        expected = promised(path.read_text(encoding="utf-8"))
        observed, stderr = printed(path, home, program)
        if expected != observed:
            faults.append(f"{name}: {path.name} says {expected} and prints {observed} {stderr.strip()[-300:]}")
    return faults, len(snippets), len(shared)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broadcheck", default="cargo run --release --quiet --", help="the command of broadcheck")
    parser.add_argument("names", nargs="+", help="the names of adapters, as `broadcheck impl list` prints them")
    given = parser.parse_args()
    failed = False
    for name in given.names:
        faults, count, shared = wrong(name, given.broadcheck.split())
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f"{name}: {count} snippets{f' and {shared} shared' if shared else ''}, {len(faults)} faults")
        failed |= bool(faults) or not count
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
