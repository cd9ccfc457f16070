"""What a release can be asked for, by question: rounded as it was published, or exact for whoever holds what was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.announcement.one_question import place_of_question
from optin.errors import BadInput
from optin.questions import Sheet
from optin.questions.kinds import QuestionResult
from optin.releasing.answered import Answered
from optin.releasing.deciding import WHY

if TYPE_CHECKING:
    from optin.announcement import Announcement


class ByQuestion:
    """Results by the names of questions; what has ``answered`` says what they are read off."""

    if TYPE_CHECKING:
        announcement: Announcement
        answered: tuple[Answered, ...]

        def expect_undivided(self) -> None:
            """Refuse what has no one meaning where people are in groups."""

    @property
    def sheet(self) -> Sheet:
        """What was asked."""
        return self.announcement.sheet

    @property
    def results(self) -> dict[str, QuestionResult]:
        """One result for each question that was published, by its name."""
        self.expect_undivided()
        questions = zip(self.sheet, self.answered, strict=True)
        return {question.name: self[question.name] for question, each in questions if not each.dropped}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - what it can be asked for depends on the kind of question
        self.expect_undivided()
        place = place_of_question(self.sheet, name)
        answered, offer, question = self.answered[place], self.announcement, self.sheet.questions[place]
        if answered.dropped:
            raise BadInput(
                'question "{question}" was not published, and nobody was charged for it: {why}',
                question=name,
                why=WHY[answered.dropped],
            )
        return question.result(answered.counted(question, offer.portions[place], noiseless=offer.noiseless))

    @property
    def question_people(self) -> tuple[int, ...]:
        """Return how many people answered each question; of a group, in tens where sums are under seal."""
        self.expect_undivided()
        return tuple(each.people for each in self.answered)

    @property
    def tilt(self) -> float:
        """Return how far the weights are from equal shares of everyone announced, the largest over the questions (E15)."""
        self.expect_undivided()
        return max(each.tilt for each in self.answered)
