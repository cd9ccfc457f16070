"""What is asked: the kinds of question, one file each, and the sheet that holds them under one personal limit."""

from optin.questions.choice import Choice
from optin.questions.histogram import Histogram
from optin.questions.kinds import Question
from optin.questions.multiple_choice import MultipleChoice
from optin.questions.number import Number
from optin.questions.scale import Scale
from optin.questions.score import Score
from optin.questions.sheet import Sheet
from optin.questions.yes_no import YesNo

__all__ = ["Choice", "Histogram", "MultipleChoice", "Number", "Question", "Scale", "Score", "Sheet", "YesNo"]
