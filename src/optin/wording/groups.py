"""How many people a group has at least, wherever one is asked, counted or drawn: fewer could be told apart."""

SMALLEST_GROUP = 10
