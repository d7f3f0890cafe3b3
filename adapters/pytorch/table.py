"""The operation table, as `broadcheck ops --format json` prints it: `../operations.json`.

An operation's required arguments are given by position, its options by name, and only where they are not the default.
"""

import json
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameters:
    """Returns the number of required arguments, and the options after them with their defaults."""

    required: int
    options: dict


def parameters(arguments):
    options = {each["name"]: each["default"] for each in arguments if "default" in each}
    return Parameters(len(arguments) - len(options), options)


def others(aliases):
    """The names of functions. Those of Python's operators, such as `__and__`, are none."""
    return [each["name"] for each in aliases if not each["name"].startswith("__")]


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "operations.json"), encoding="utf-8") as file:
    OPERATIONS = json.load(file)

TABLE = {each["name"]: parameters(each["arguments"]) for each in OPERATIONS}

# What draws random numbers.
SAMPLERS = {each["name"] for each in OPERATIONS if each["kernel"] == "sampler"}

# Other names of an operation: a function, and a method in place. Where there are two, the second takes no options.
ALIASES = {each["name"]: others(each["aliases"]) for each in OPERATIONS if others(each.get("aliases", []))}
