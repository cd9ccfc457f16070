"""Records of the service, as the JSON interface shows them."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from optin.announcement import Announcement, Deal
from optin.releasing import Release
from optin.web.api import given
from optin.web.service.drafts import Draft
from optin.web.service.records import Job, MyCampaign, Visitor, told

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Shown = TypeVar("Shown", bound="DataclassInstance")


def session_out(visitor: Visitor) -> given.SessionOut:
    """Show who is signed in."""
    return given.SessionOut(account=visitor.account, kind=visitor.kind, name=visitor.name, csrf_token=visitor.csrf)


def shown(kind: type[Shown], record: object) -> Shown:
    """Show a record as what the interface calls it: the same fields, in JSON."""
    return kind(**{each.name: _json(getattr(record, each.name)) for each in fields(kind)})


def _json(value: Any) -> Any:  # noqa: ANN401 - whatever a record holds
    match value:
        case Draft():
            return given.DraftOut(**value.to_record())
        case Job():
            return shown(given.JobOut, value)
        case Deal():
            return given.DealOut(**told(value) or {})
        case MyCampaign():
            return shown(given.MyCampaignOut, value)
        case Announcement() | Release():
            return json.loads(value.to_json())
        case tuple():
            return [_json(each) for each in value]
    return value
