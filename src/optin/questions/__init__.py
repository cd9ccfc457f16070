"""What is asked: the kinds of question, one file each, and the sheet that holds them under one personal limit."""

from optin.questions.kinds import Question
from optin.questions.number import Number
from optin.questions.sheet import Sheet

__all__ = ["Number", "Question", "Sheet"]
