"""The job, one function for each step, in the paper's order: plan, announce, answer, release; or cancel."""

from optin.campaign.promises import write_grains
from optin.campaign.steps import Quorum, announce, answer, cancel, plan, release, within_allowance

__all__ = ["Quorum", "announce", "answer", "cancel", "plan", "release", "within_allowance", "write_grains"]
