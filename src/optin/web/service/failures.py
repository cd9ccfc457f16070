"""What a visitor can be told besides the failures of ``optin.errors``; each knows its HTTP status."""

from __future__ import annotations

from optin.errors import Failure
from optin.wording.language import N_
from optin.wording.sentences import Sentence


class VisitFailure(Failure):
    """The root of what can go wrong with a visit rather than with the work."""

    http_status = 400


class NobodyThere(VisitFailure):
    """Nobody is signed in."""

    http_status = 401

    def __init__(self, words: str = N_("sign in first")) -> None:
        super().__init__(words)


class Refused(VisitFailure):
    """The request is not from where it should be, or a secret or password is wrong."""

    http_status = 403


class NotFound(VisitFailure):
    """There is no such thing, or it is not yours: the two look alike on purpose."""

    http_status = 404

    def __init__(self, words: str = N_("there is nothing here, or it is not yours")) -> None:
        super().__init__(words)


class TooSoon(VisitFailure):
    """A password was tried too soon after wrong ones, or an account asked for too soon after many others."""

    http_status = 429

    def __init__(self, seconds: int, words: str) -> None:
        super().__init__("{words}; wait {seconds} s and try again", words=Sentence(words), seconds=seconds)
        self.seconds = seconds
