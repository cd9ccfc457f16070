"""Plan and release on a cluster, in a process of its own: one process has one Spark. Prints what came out, as JSON."""

import json
import sys

import optin
from optin.releasing.drawing import measure


def main(engine, people, announcement):
    agents = optin.read(people, limits="limit", engine=engine)
    plan = optin.plan(agents, bounds=(0, 1))
    offer = plan.announce(agents, campaign="c")
    print(json.dumps({"cap": plan.cap, "offer": offer.to_json()}), flush=True)
    with open(announcement) as file:
        announced = optin.Announcement.from_json(file.read())
    for _ in range(3):  # the test takes a worker away while these run
        measured = measure(announced, agents, "value", joined="joined")
        print(json.dumps({"sum": str(measured.those.weighted), "joined": measured.turnout.people}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
