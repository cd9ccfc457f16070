"""Who joins when people who weigh costs watch each other: rounds, equilibria, crowds that tip, room for decliners."""

from optin.dynamics.crowds import Equilibrium, equilibria, followers, margins, smallest_crowd, tipping_crowd
from optin.dynamics.game import Game, game_of
from optin.dynamics.rounds import Rounds, play, random_crowd
from optin.dynamics.slack import Room, room_for_decliners, slack_table

__all__ = [
    "Equilibrium",
    "Game",
    "Room",
    "Rounds",
    "equilibria",
    "followers",
    "game_of",
    "margins",
    "play",
    "random_crowd",
    "room_for_decliners",
    "slack_table",
    "smallest_crowd",
    "tipping_crowd",
]
