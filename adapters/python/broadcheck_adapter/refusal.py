"""What kind of refusal an exception is, by its text."""

import re


def classifier(table, text=lambda error, op: f"{op}: {error}"):
    """What finds broadcheck's class of an exception: that of the first pattern in its text, which begins with the
    operation, so that a pattern may be about that one alone."""
    compiled = [(re.compile(pattern), kind) for pattern, kind in table]

    def classify(error, op):
        said = text(error, op)
        return next((kind for pattern, kind in compiled if pattern.search(said)), None)

    return classify
