"""A score of several items: added up before anything is kept, and then one number."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from optin.questions.number import Number
