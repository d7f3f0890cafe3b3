"""Runs the snippets of adapters, each in the environment of its library, and compares their output with their comments.

    python3 adapters/snippets.py numpy tfjs
    python3 adapters/snippets.py --broadcheck target/release/broadcheck numpy
    python3 adapters/snippets.py --finding broadcheck-fuzz/findings/*/

A snippet is a program that shows one cause of an adapter's `causes.toml` in the library alone. `reports/findings/numpy.md`
has those of NumPy: for each cause a section of that name with one fenced block. A comment that begins with `prints:` is a
line of the output, and so is each line of comment right after that. Where two adapters share an environment and a cause,
a section in one of the two pages is enough. With `--finding` the programs are those of findings, which the adapter has
written. Snippets in Rust are modules of one program, built next to the adapter with
its dependencies, so that all are compiled and linked at once.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parent
FINDINGS = ADAPTERS.parent / "reports" / "findings"
LANGUAGES = ["python", "rust", "js"]
# The heading of a section, or a fenced block: its language and its text.
PART = re.compile(r"^## (.+)$|^```(.*)\n((?:(?!```).*\n)*)```$", re.M)


def environment(broadcheck, name):
    """The folder of a library's environment, which is made if it is missing."""
    done = subprocess.run([*broadcheck, "impl", "install", "--quiet", name], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip().split(" is ready in ", 1)[1])


def promised(text):
    """The output according to the comments of a snippet: lines, without the marks of the comment."""
    lines, inside = [], False
    for line in text.splitlines():
        comment = re.match(r"(?:#|//) ?(prints: ?)?(.*)", line)
        inside = bool(comment and (comment[1] or inside))
        if inside:
            lines.append(comment[2].strip())
    return lines


def built(name, snippets, home):
    """The program that runs each Rust snippet by its cause."""
    folder, program = ADAPTERS / name, f"snippets-{name}"
    manifest = (folder / "Cargo.toml").read_text(encoding="utf-8")
    manifest = re.sub(r"^name = .*", f'name = "{program}"', manifest, count=1, flags=re.M)
    # broadcheck-protocol stays, unused, so that its crates have the features that they were built with.
    for below, path in ("../../src/protocol", ADAPTERS.parent / "src" / "protocol"), ("../rust", ADAPTERS / "rust"):
        manifest = manifest.replace(json.dumps(below), json.dumps(str(path)))
    package = home / "snippets"
    shutil.rmtree(package / "src", ignore_errors=True)
    (package / "src" / "causes").mkdir(parents=True)
    (package / "Cargo.toml").write_text(manifest, encoding="utf-8")
    shutil.copy(folder / "Cargo.lock", package)
    module = 'mod s%d { include!("causes/%s.rs"); pub fn run() -> impl std::process::Termination { main() } }'
    modules = [module % (at, cause) for at, cause in enumerate(snippets)]
    arms = [f"Some({json.dumps(cause)}) => s{at}::run().report()," for at, cause in enumerate(snippets)]
    arms.append('other => panic!("{other:?} is no snippet"),')
    main = ["use std::process::Termination;", "fn main() -> std::process::ExitCode {"]
    main += ["match std::env::args().nth(1).as_deref() {", *arms, "} }"]
    (package / "src" / "main.rs").write_text("\n".join([*modules, *main]), encoding="utf-8")
    for cause, text in snippets.items():
        (package / "src" / "causes" / f"{cause}.rs").write_text(text, encoding="utf-8")
    target = home.parents[2] / "build"
    build = ["cargo", "build", "--quiet", "--release", "--manifest-path", package / "Cargo.toml", "--target-dir", target]
    if subprocess.run(build).returncode:
        sys.exit(f"{page_of(name)}: the programs do not compile; the compiler names their sections, as causes/SECTION.rs")
    return shutil.copy(target / "release" / program, package / program)


def printed(cause, language, text, home, program):
    """The output of a snippet, and its errors. Node looks for packages in the folder that it is started in."""
    variables = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    with tempfile.TemporaryDirectory() as folder:
        # Python gets a file, since compilers such as that of torch.compile look at the source of functions.
        file = Path(folder) / f"{cause}.py"
        file.write_text(text, encoding="utf-8")
        command = {
            "python": [home / "bin" / "python", file],
            "rust": [program, cause],
            "js": ["node", "--input-type=module", "-"],
        }[language]
        given = text if language == "js" else None
        done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=home, env=variables)
    return [line.strip() for line in done.stdout.strip().splitlines()], done.stderr


def described(name, file):
    return tomllib.loads((ADAPTERS / name / file).read_text(encoding="utf-8"))


def page_of(name):
    return f"reports/findings/{name}.md"


def sections_of(name):
    """The sections of a library's page: their names, and the languages and texts of their blocks. Without a page, none."""
    page, sections = FINDINGS / f"{name}.md", []
    for heading, language, text in PART.findall(page.read_text(encoding="utf-8") if page.is_file() else ""):
        if heading:
            sections.append((heading, []))
        elif sections:
            sections[-1][1].append((language, text))
    return sections


def fault_of(blocks, times, is_cause):
    """Returns the problem with a section before its program is run, if there is one."""
    if times > 1:
        return f"{times} sections have this name"
    if not is_cause:
        return "it is of no cause"
    if len(blocks) != 1:
        return f"it has {len(blocks) or 'no'} fenced {'blocks' if blocks else 'block'}, and should have one"
    language, text = blocks[0]
    if language not in LANGUAGES:
        return f"its block is in {language or 'no language'}, and should be in one of {', '.join(LANGUAGES)}"
    if not promised(text):
        return "no comment `prints:` gives its output"
    return None


def wrong(name, broadcheck):
    """The faults of an adapter's page; how many snippets it has; how many causes only the page of its environment shows."""
    causes = {cause["id"] for cause in described(name, "causes.toml")["cause"]}
    sections = sections_of(name)
    times = Counter(section for section, _ in sections)
    lacking = causes - times.keys()
    shared = lacking & dict(sections_of(described(name, "adapter.toml").get("environment", name))).keys()
    faults = [f"{page_of(name)}: no section shows {cause}" for cause in sorted(lacking - shared)]
    snippets = {}
    for section, blocks in sections:
        if fault := fault_of(blocks, times[section], section in causes):
            faults.append(f"{page_of(name)}, section {section}: {fault}")
        else:
            snippets[section] = blocks[0]
    home = environment(broadcheck, name)
    rust = {cause: text for cause, (language, text) in snippets.items() if language == "rust"}
    program = built(name, rust, home) if rust else None
    for cause, (language, text) in snippets.items():
        expected = promised(text)
        observed, stderr = printed(cause, language, text, home, program)
        if expected != observed:
            said = f"says {expected} and prints {observed} {stderr.strip()[-300:]}"
            faults.append(f"{page_of(name)}, section {cause}: its program {said}")
    return list(dict.fromkeys(faults)), len(snippets), len(shared)


def program_of(folder):
    """The library of a finding, and the file, the language and the text of its program, or nothing if it has none."""
    name = json.loads((folder / "finding.json").read_text(encoding="utf-8"))["implementation"]["name"]
    readme = re.search(r"^(`{3,})python\n(.*?)^\1$", (folder / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    programs = [("README.md", "python", readme[2])] if readme else []
    for file, language in ("repro.py", "python"), ("repro.mjs", "js"), ("repro.rs", "rust"):
        if (folder / file).is_file():
            programs.append((file, language, (folder / file).read_text(encoding="utf-8")))
    return name, *(programs[0] if programs else (None, None, None))


def wrong_findings(folders, broadcheck):
    """The problem with the program of each finding, or nothing if there is none."""
    found = {folder: program_of(folder) for folder in folders}
    homes = {name: environment(broadcheck, name) for name, *_ in found.values()}
    rust = {name: {} for name in homes}
    for folder, (name, _, language, text) in found.items():
        if language == "rust":
            rust[name][folder.name] = text
    programs = {name: built(name, texts, homes[name]) for name, texts in rust.items() if texts}
    return [
        wrong_finding(folder, program, homes[name], programs.get(name)) for folder, (name, *program) in found.items()
    ]


def wrong_finding(folder, program, home, built_program):
    """The problem with a program, if there is one: it is not there, or prints something else."""
    file, language, text = program
    if text is None:
        return f"{folder}: it has no program"
    expected = promised(text)
    observed, stderr = printed(folder.name, language, text, home, built_program)
    # What the library itself prints, such as a greeting, is no line of the program.
    missing = [line for line in expected if line not in observed]
    wrong = f"says {expected} and prints {observed} {stderr.strip()[-300:]}"
    return f"{folder}: {file} {wrong}" if missing or not expected else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broadcheck", default="cargo run --release --quiet --", help="the command of broadcheck")
    parser.add_argument("--finding", nargs="+", type=Path, default=[], help="the folders of findings", metavar="DIR")
    parser.add_argument("names", nargs="*", help="the names of adapters, as `broadcheck impl list` prints them")
    given = parser.parse_args()
    if not given.names and not given.finding:
        parser.error("there is neither a name nor a finding")
    failed = False
    faults = wrong_findings(given.finding, given.broadcheck.split())
    for fault in filter(None, faults):
        print(fault, file=sys.stderr)
    if given.finding:
        print(f"{len(faults)} findings, {sum(map(bool, faults))} faults")
        failed = any(faults)
    for name in given.names:
        faults, count, shared = wrong(name, given.broadcheck.split())
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f"{name}: {count} snippets{f' and {shared} shared' if shared else ''}, {len(faults)} faults")
        failed |= bool(faults) or not count
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
