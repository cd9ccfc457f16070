"""What would happen: campaigns with people who do not exist, again and again, measured against what was computed."""

from optin.simulation.populations import POPULATIONS, Harmonic, Lognormal, Mix, Population, TwoLevel
from optin.simulation.record import Outcome, Simulation
from optin.simulation.sheet_record import Figure, SheetOutcome, SheetSimulation
from optin.simulation.simulating import simulate

__all__ = [
    "POPULATIONS",
    "Figure",
    "Harmonic",
    "Lognormal",
    "Mix",
    "Outcome",
    "Population",
    "SheetOutcome",
    "SheetSimulation",
    "Simulation",
    "TwoLevel",
    "simulate",
]
