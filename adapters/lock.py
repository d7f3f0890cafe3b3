"""Writes a `requirements.txt` whose every wheel is pinned by hash, for the platforms and Pythons below.

    python3 adapters/lock.py numpy==2.4.6 > adapters/numpy/requirements.txt

`--manylinux 2_35` before the packages asks for wheels for another glibc than 2.28, and for Linux alone. pip resolves
for each of them and reports the hashes of its index; nothing is installed.
"""

import json
import subprocess
import sys
import tempfile

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_14_0_arm64"]
# pip takes a tag literally, so a machine's older tags are named, too.
OLDER = {
    "manylinux_2_35_x86_64": ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "manylinux_2_35_aarch64": ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"],
    "manylinux_2_28_x86_64": ["manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "manylinux_2_28_aarch64": ["manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"],
    "macosx_14_0_arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
}


def resolve(wanted, python, platform):
    """What pip would install there: name, version and hash of each package; None if it has no wheels."""
    tags = [word for tag in [platform, *OLDER[platform]] for word in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run",
            "--ignore-installed", "--report", "-", "--only-binary=:all:", "--target", folder,
            "--python-version", python, *tags, *wanted,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"Python {python} on {platform}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return [
        (each["metadata"]["name"].lower(), each["metadata"]["version"], each["download_info"]["archive_info"]["hashes"]["sha256"])
        for each in json.loads(done.stdout)["install"]
    ]


def main(arguments):
    wanted, platforms = arguments, PLATFORMS
    if arguments[0] == "--manylinux":
        _, glibc, *wanted = arguments
        platforms = [f"manylinux_{glibc}_{machine}" for machine in ("x86_64", "aarch64")]
    found = {}
    where = []
    for python in PYTHONS:
        for platform in platforms:
            packages = resolve(wanted, python, platform)
            if packages is None:
                continue
            where.append(f"{python} {platform}")
            for name, version, digest in packages:
                found.setdefault(name, {}).setdefault(version, []).append(digest)
    several = [name for name, versions in found.items() if len(versions) > 1]
    if several or not found:
        sys.exit(f"no one version does for all: {several}" if several else "nothing was found")
    print(f"# Written by `python3 adapters/lock.py {' '.join(arguments)}`.")
    print("# Wheels for " + ", ".join(where) + ".")
    for name, versions in sorted(found.items()):
        ((version, digests),) = versions.items()
        hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in dict.fromkeys(digests))
        print(f"{name}=={version} \\\n{hashes}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
