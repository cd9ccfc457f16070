"""What would happen: campaigns with people who do not exist, again and again, measured against what was computed."""

from optin.simulation.group_record import GroupOutcome, GroupSimulation
from optin.simulation.groups import SimulatedGroup, simulate_groups
from optin.simulation.populations import POPULATIONS, Harmonic, Lognormal, Mix, Population, TwoLevel
from optin.simulation.record import Outcome, Simulation
from optin.simulation.sheet_record import Figure, SheetOutcome, SheetSimulation
from optin.simulation.simulating import simulate

__all__ = [
    "POPULATIONS",
    "Figure",
    "GroupOutcome",
    "GroupSimulation",
    "Harmonic",
    "Lognormal",
    "Mix",
    "Outcome",
    "Population",
    "SheetOutcome",
    "SheetSimulation",
    "SimulatedGroup",
    "Simulation",
    "TwoLevel",
    "simulate",
    "simulate_groups",
]
