"""Who gains by a false report: nobody with a limit; with a cost, whoever overstates it."""

from optin.incentives.checking import gain_of_lying, optimum
from optin.incentives.false_costs import CostReports, best_lies, cost_reports, gain_of_cost
from optin.incentives.false_limits import LimitReports, limit_reports

__all__ = [
    "CostReports",
    "LimitReports",
    "best_lies",
    "cost_reports",
    "gain_of_cost",
    "gain_of_lying",
    "limit_reports",
    "optimum",
]
