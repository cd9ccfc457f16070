"""JSON with one thing in it changed: every leaf, list and entry, each in several ways, as an enemy or an accident would."""

import copy
import json

TWICE = "@ twice @"
LEFT_OUT = object()


def places(found, at=()):
    """Every place in a record, and what stands there."""
    yield at, found
    inside = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for name, each in inside:
        yield from places(each, (*at, name))


def put(record, at, value):
    """The record with something else in a place, or without it."""
    if not at:
        return value
    changed = copy.deepcopy(record)
    here = changed
    for name in at[:-1]:
        here = here[name]
    if value is LEFT_OUT:
        del here[at[-1]]
    else:
        here[at[-1]] = value
    return changed


def others(found):
    """Other things that could stand where this stands."""
    if isinstance(found, bool):
        return [not found, int(found), str(found).lower()]
    if isinstance(found, int):
        wrong = [found + 1, found - 1, float(found), found + 0.5, str(found), -found - 1, found + 2**64, 10**400, None]
        return [*wrong, bool(found)]
    if isinstance(found, str):
        ends = [f"{found}x", f"{found}\u200b", found[:-1], found.swapcase(), f"{found}\ud800", "", None, [found]]
        middle = len(found) // 2
        turned = [found[:at] + chr(ord(found[at]) ^ 1) + found[at + 1 :] for at in {0, middle, len(found) - 1} if found]
        return [*ends, *turned]
    if found is None:
        return [0, "x", "0" * 64, [], False]
    if isinstance(found, list):
        return [None, {}, found[:-1], found[1:], [*found, found[-1]]] if found else [None, ["0" * 64]]
    return [None, [found], found | {"more": 1}]


def mutated(record):
    """Each change: where, and the text that holds it; entries are also left out, and given twice."""
    whole = json.dumps(record)
    for at, found in places(record):
        for other in others(found):
            text = json.dumps(put(record, at, other))
            if text != whole:
                yield at, text
        if at and isinstance(at[-1], str):
            yield at, json.dumps(put(record, at, LEFT_OUT))
            around = put(record, (*at[:-1], TWICE), None)
            yield at, json.dumps(around).replace(json.dumps(TWICE), json.dumps(at[-1]))
