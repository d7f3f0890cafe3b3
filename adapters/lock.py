"""Writes a `requirements.txt` whose every wheel is pinned by hash. uv has to be on the PATH.

    python3 adapters/lock.py numpy==2.4.6 > adapters/numpy/requirements.txt

uv resolves for all platforms and for every Python from 3.11 on, each package in one version, by the metadata of its
index; nothing is installed.
"""

import shutil
import subprocess
import sys

COMMAND = [
    "uv", "pip", "compile", "-", "--quiet", "--universal", "--fork-strategy", "fewest", "--python-version", "3.11",
    "--no-python-downloads", "--only-binary", ":all:", "--generate-hashes", "--no-annotate", "--no-header",
]  # fmt: skip


def main(wanted):
    if shutil.which("uv") is None:
        sys.exit("uv is not on the PATH; https://docs.astral.sh/uv/ says how to install it")
    done = subprocess.run(COMMAND, input="\n".join(wanted), stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        print(f"# Written by `python3 adapters/lock.py {' '.join(wanted)}`.\n{done.stdout}", end="")
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
