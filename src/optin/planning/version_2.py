"""Plans of version 2: a sheet, a wish, designs and a promise, each read by its own record."""

from __future__ import annotations

import math
from typing import Any

from optin.agents.grouping import fault_of
from optin.formats.strict_json import Fields
from optin.kernel.noise import LAPLACE
from optin.planning.design import Design
from optin.planning.shared_numbers import PromisedVariance
from optin.planning.wish import Wish
from optin.questions import Sheet


def read_version_2(fields: Fields) -> dict[str, Any]:
    """Read the fields of a plan of version 2; keys of others are left to them."""
    if fields.take_text("noise") != LAPLACE.name:
        fields.refuse('"noise" is not one that this optin knows')
    designs = tuple(Design.from_fields(each) for each in fields.take_objects("designs"))
    sheet = Sheet.from_fields(fields.take_object("sheet"))
    wish = Wish.from_fields(fields.take_object("wish"))
    _check_groups(fields, designs)
    for design in designs:
        _check_rows(fields, sheet, design, wish)
    return {
        "sheet": sheet,
        "model": fields.take_text("model"),
        "designs": designs,
        "wish": wish,
        "promise": fields.maybe("promise", lambda name: PromisedVariance.from_fields(fields.take_object(name))),
        "within_resolution": fields.take_bool("within_resolution"),
    }


def _check_groups(fields: Fields, designs: tuple[Design, ...]) -> None:
    """Refuse anything but one design for everyone, or one for each of some groups, none of whose labels stands twice."""
    if len(designs) == 1 and designs[0].group is None:
        return
    names, labels = [design.group for design in designs], [label for design in designs for label in design.labels]
    distinct = len(set(names)) == len(names) > 0 and len(set(labels)) == len(labels)
    if not distinct or any(name is None or fault_of(name) for name in (*names, *labels)):
        fields.refuse("it is neither about one design for everyone nor about one for each group")


def _check_rows(fields: Fields, sheet: Sheet, design: Design, wish: Wish) -> None:
    """Refuse lists that do not have an entry for each question, and shares that are not those of one epsilon."""
    if not len(design.shares) == len(design.variances) == len(sheet):
        fields.refuse("it has not a share and a variance for each question")
    if not {len(wish.errors), len(wish.targets), len(design.own.targets)} <= {0, len(sheet)}:
        fields.refuse("it has not a wish for each question")
    if not math.isclose(math.fsum(design.shares), 1.0, rel_tol=1e-9) or min(design.shares) <= 0:
        fields.refuse("its epsilon shares do not add up to 1")
    if any(not 0 < error < math.inf for error in wish.errors):
        fields.refuse("a wished standard error is not positive")
    odd = len(sheet) > 1 and any(math.isinf(question.price) for question in sheet)
    if odd or (wish.eta is not None and sheet.one_number is None):
        fields.refuse("a rate of noise and an sd of 0 go with one number alone")
