"""Read the designs of an announcement: with their sums in public, under seal, or opened."""

from __future__ import annotations

from dataclasses import replace

from optin.announcement.exact import exact_numbers
from optin.announcement.numbers import AnnouncedDesign, ExactSums, PublicNumbers
from optin.announcement.sealed import Seal, opened
from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.questions import Sheet

Designs = tuple[AnnouncedDesign, ...]


def read_designs(fields: Fields, sheet: Sheet) -> tuple[Designs, Seal | None, int | None]:
    """Read what is announced to everyone, or to each group, what it is bound to, and how many people all groups have."""
    public = fields.take_object("public")
    if not fields.has("commitment"):
        return _with_sums(_public(public, sealed=False), fields.take_object("sealed"), sheet), None, None
    seal = Seal(fields.take_fingerprint("commitment"))
    everyone = public.take_int("people") if public.has("groups") else None
    designs = _public(public, sealed=True)
    if not fields.has("sealed"):
        return designs, seal, everyone
    return *opened(designs, sheet, seal, fields.take_object("sealed")), everyone


def _public(public: Fields, *, sealed: bool) -> Designs:
    if not public.has("groups"):
        return (AnnouncedDesign(PublicNumbers.from_fields(public, sealed=sealed), None),)
    parts = public.take_objects("groups")
    public.finish()
    if not parts:
        public.refuse("it has no groups")
    return tuple(_group(part, sealed=sealed) for part in parts)


def _group(fields: Fields, *, sealed: bool) -> AnnouncedDesign:
    named = fields.take_text("group"), fields.take_texts("merged")
    return AnnouncedDesign(PublicNumbers.from_fields(fields, sealed=sealed, of_group=True), None, *named)


def _with_sums(designs: Designs, sealed: Fields, sheet: Sheet) -> Designs:
    """Add sums that are public; what else follows from them is computed, and the variances stay as they were told."""
    parts = sealed.take_objects("groups") if sealed.has("groups") else [sealed]
    if len(parts) != len(designs):
        sealed.refuse("it has public and sealed numbers of different groups")
    summed = tuple(_summed(design, part, sheet) for design, part in zip(designs, parts, strict=True))
    sealed.finish()
    return summed


def _summed(design: AnnouncedDesign, fields: Fields, sheet: Sheet) -> AnnouncedDesign:
    sums = tuple(ExactSums.from_record(each) for each in fields.take_objects("questions"))
    fields.finish()
    return with_sums(design, sums, sheet)


def with_sums(design: AnnouncedDesign, sums: tuple[ExactSums, ...], sheet: Sheet) -> AnnouncedDesign:
    """Add sums that are public to a design; what is told beside them is compared later (`check_consistent`)."""
    if len(sums) != len(sheet):
        raise BadInput("this announcement cannot be read: it has other numbers than its sheet has questions")
    exact = exact_numbers(sheet, design.public, sums)
    told = replace(design.public, noises=exact.numbers.noises, squares=exact.numbers.squares)
    return replace(design, public=told, exact=exact)
