"""Plans of version 2: a sheet, a wish, designs and a promise, each read by its own record."""

from __future__ import annotations

from typing import Any

from optin.formats.strict_json import Fields
from optin.kernel.noise import LAPLACE
from optin.planning.design import Design
from optin.planning.promise import PromisedVariance
from optin.planning.wish import Wish
from optin.questions import Sheet


def read_version_2(fields: Fields) -> dict[str, Any]:
    """Read the fields of a plan of version 2; keys of others are left to them."""
    if fields.take_text("noise") != LAPLACE.name:
        fields.refuse('"noise" is not one that this optin knows')
    designs = tuple(Design.from_fields(each) for each in fields.take_objects("designs"))
    sheet = Sheet.from_fields(fields.take_object("sheet"))
    if len(designs) != 1 or not len(designs[0].shares) == len(designs[0].variances) == len(sheet) == 1:
        fields.refuse("it is not about one question for everyone")
    return {
        "sheet": sheet,
        "model": fields.take_text("model"),
        "designs": designs,
        "wish": Wish.from_fields(fields.take_object("wish")),
        "promise": fields.maybe("promise", lambda name: PromisedVariance.from_fields(fields.take_object(name))),
        "within_resolution": fields.take_bool("within_resolution"),
    }
