"""Plan, announce and release on a cluster, in a process of its own: one process has one Spark. Prints what came out."""

import json
import sys
from pathlib import Path

from changing import numbers_of

import optin
from optin.releasing.drawing import measure


def main(engine, people, folder, sums):
    agents = optin.read(people, limits="limit", engine=engine, check_ids=False)
    cap = optin.plan(agents, bounds=(0, 1)).cap
    plan = optin.Plan.from_json((Path(folder) / "plan.json").read_text())
    offer = plan.announce(agents, campaign="c")
    print(json.dumps({"cap": cap, "offer": numbers_of(offer)}), flush=True)
    for _ in range(int(sums)):  # the test takes a worker away while these run
        measured = measure(offer, agents, "value", joined="joined")
        print(
            json.dumps({"sum": str(measured.those.questions[0].cells[0]), "joined": measured.decision.came.people}),
            flush=True,
        )
    sys.stdin.read()  # whoever attached by Spark Connect is done when this ends


if __name__ == "__main__":
    main(*sys.argv[1:])
