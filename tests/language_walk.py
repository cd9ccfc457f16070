"""A walk through every kind of page, in whatever language a browser asks for: what people and analysts are shown, by name."""

import html
import re

from sqlalchemy import select, update
from web_steps import finish_jobs, registered

import optin
from optin.web.languages import wanted
from optin.web.schema import invitees, sessions
from optin.web.service.core import new_secret
from optin.web.service.lists import stop_token

SHEET = optin.Sheet(
    [
        optin.Number("stunden", bounds=(0, 80), sd=9, unit="Stunden", text="Wie viele Stunden haben Sie gearbeitet?"),
        optin.YesNo("pause", text="Ist eine Pause ausgefallen?"),
        optin.Choice("schicht", options=("früh", "spät", "nachts"), text="In welcher Schicht?"),
        optin.Scale("laune", options=("schlecht", "mittel", "gut"), text="Wie ging es Ihnen?"),
        optin.Score("last", items=3, each=(0, 4), text="Wie belastend war es?"),
        optin.Histogram("alter", edges=(16, 30, 45, 65), unit="Jahre", text="Wie alt sind Sie?"),
        optin.MultipleChoice("grund", options=("Personal", "Telefon", "Notfall"), at_most=2, text="Weshalb?"),
    ],
    title="Pausen auf der Station",
    purpose="Für den Dienstplan.",
    asked_by="Der Personalrat",
)
TYPED = {"a0": "38,5", "a1": "yes", "a2": "nachts", "a3": "gut", "a4": ["1", "2", "4"], "a5": "33", "a6": ["Personal"]}
MANY = 24


class Walk:
    """Someone who asks for pages in a language and keeps what they are shown."""

    def __init__(self, house, language):
        self.house, self.language, self.shown = house, language, {}
        self.mails = wanted(language, otherwise="en")

    def see(self, name, method, path, *, status=200, cookie=None, origin=None, host=None, **more):
        said = {
            "Accept-Language": self.language,
            **({"Origin": origin} if origin else {}),
            **({"Host": host} if host else {}),
        }
        answer = self.house.ask(method, path, cookie=cookie, headers=said, **more)
        assert answer.status_code == status, (name, answer.status_code, words_of(answer.text)[-600:])
        self.shown[name] = answer.text
        return answer


def words_of(page):
    """What a page says: its text, and what stands in attributes that are read aloud."""
    page = re.sub(r"(?s)<(script|style|pre|code).*?</\1>", " ", page)
    said = re.findall(r'(?:aria-label|alt|data-linked-words)="([^"]*)"', page)
    return " ".join(html.unescape(" ".join([re.sub(r"<[^>]+>", " ", page), *said])).split())


def cookie_of(answer):
    found = re.search(r"__Host-optin=([^;]+);", answer.headers.get("set-cookie", ""))
    return found and found[1]


def csrf_of(answer):
    return re.search(r'name="csrf" value="([^"]+)"', answer.text)[1]


def form(secret, **more):
    given = {
        "secret": secret,
        "key": new_secret(),
        "round": "1",
        "step": "5",
        "before": "no",
        "do": "send",
        "echoed": "yes",
    }
    return {**given, **TYPED, **more}


def walk(house, language):
    """See every kind of page; return them by name."""
    ada = getattr(house, "ada", None) or house.analyst("ada")
    house.ada = ada
    found = Walk(house, language)
    _outside(found)
    _drafting(found, ada)
    campaign = _answering(found, ada)
    _deciding(found, ada, campaign)
    _one_number(found, ada)
    _coming_and_going(found)
    _running(found, ada)
    house.walked = found
    return found.shown


def _outside(found):
    for path in ("/", "/about", "/i", "/login", "/back", "/sign-up?campaign=x", "/setup", "/new-password"):
        found.see(f"outside {path}", "GET", path)
    found.see("nothing here", "GET", "/nowhere", status=404)
    found.see("a wrong password", "POST", "/login", status=403, data={"name": "ada", "password": "wrong" * 4})
    found.see("a wrong code", "POST", "/i", status=403, data={"secret": "x" * 40, "by": "hand"})
    found.see("too much", "POST", "/login", status=413, data={"name": "x" * 70_000})
    found.see("from elsewhere", "POST", "/login", status=403, data={}, origin="https://example.org")
    found.see("by another name", "GET", "/about", status=403, host="example.org")


def _drafting(found, ada):
    mine = {"cookie": ada._cookie}
    for path in ("/a", "/a/start", "/a/new", "/a/new-sheet", "/a/year?of=pulse&campaigns=4&expected=200&mix=mixed"):
        found.see(f"desk {path}", "GET", path, **mine)
    found.see("a sheet that is ready", "GET", "/a/new-sheet?begin=pay-gap", **mine)
    wrong = {
        "csrf": ada._csrf,
        "title": "T",
        "lower": "9",
        "upper": "1",
        "quorum_people": "20",
        "max_gap": "0",
        "question": "F",
    }
    found.see("a draft that is wrong", "POST", "/a/new", status=422, data=wrong, **mine)
    empty = {"csrf": ada._csrf, "do": "keep", "title": "T"}
    found.see("a sheet that is wrong", "POST", "/a/new-sheet", status=422, data=empty, **mine)


def _answering(found, ada):
    house, mine = found.house, {"cookie": ada._cookie}
    campaign = ada.draft(SHEET, quorum_people=10, sealed=True, window_hours=48.0, language=found.mails).id
    for path in ("", "/try", "/people", "/colleagues", "/sheet"):
        found.see(f"draft {path}", "GET", f"/a/c/{campaign}{path}", **mine)
    ada.take(campaign, "open")
    secrets = ada.invite(campaign, MANY)
    found.see("invited", "POST", "/i", data={"secret": secrets[0], "by": "link"})
    found.see("the form", "POST", "/i/answer", data={"secret": secrets[0]})
    found.see("told back", "POST", "/i/send", data=form(secrets[0], echoed="", a0="3e1"))
    found.see("wrong", "POST", "/i/send", status=422, data=form(secrets[0], a0="viele"))
    found.see("no limit", "POST", "/i/send", status=422, data=form(secrets[0], step=""))
    found.see("declined at once", "POST", "/i/send", data=form(secrets[-1], do="decline"))
    sent = found.see("sent", "POST", "/i/send", data=form(secrets[0]))
    found.cookies = [cookie_of(sent)]
    for secret in secrets[1:-2]:
        found.cookies.append(cookie_of(house.ask("POST", "/i/send", data=form(secret))))
    person = {"cookie": found.cookies[0]}
    found.see("me", "GET", "/me", **person)
    found.see("registered", "GET", f"/c/{campaign}", **person)
    found.see("leaving", "GET", "/me/leave", **person)
    found.see("signing out", "GET", "/sign-out", **person)
    found.see("registration", "GET", f"/a/c/{campaign}", **mine)
    return campaign


def later(house, moment):
    """Move the clock; everyone stays signed in."""
    house.service.clock.now = moment
    here = {"expires_at": moment + 1e7, "rotated_at": moment}
    house.service.change(lambda link: link.execute(update(sessions).values(here)))


def _deciding(found, ada, campaign):
    house, mine, person = found.house, {"cookie": ada._cookie}, {"cookie": found.cookies[0]}
    ada.take(campaign, "close-registration")
    found.see("being planned", "GET", f"/c/{campaign}", **person)
    found.see("closed", "GET", f"/a/c/{campaign}", **mine)
    found.see("the plan so far", "GET", f"/a/c/{campaign}/plan", **mine)
    ada.take(campaign, "announce")
    finish_jobs(house.service)
    deal = found.see("the deal", "GET", f"/c/{campaign}", **person)
    found.see("the offer", "GET", f"/r/{campaign}", **mine)
    found.see("announced", "GET", f"/a/c/{campaign}", **mine)
    later(house, house.service.clock.now + 49 * 3600)
    ada.take(campaign, "close")
    found.see("answers closed", "GET", f"/c/{campaign}", **person)
    ada.take(campaign, "release")
    finish_jobs(house.service)
    found.see("released", "GET", f"/c/{campaign}", **person)
    found.see("the receipt", "GET", f"/c/{campaign}/receipt", **person)
    found.see("the result", "GET", f"/r/{campaign}", **mine)
    found.see("published", "GET", f"/a/c/{campaign}", **mine)
    found.see("the announced plan", "GET", f"/a/c/{campaign}/plan", **mine)
    found.see("the next campaign", "GET", f"/a/year?of={campaign}&campaigns=2&expected=200&mix=mixed", **mine)
    council = re.search(r'href="(/council/[^"]+)"', found.shown["published"])[1]
    found.see("the council", "GET", council)
    found.see("the annex", "GET", f"{council}/annex.html")
    found.see("checking without a network", "GET", "/check.html")
    found.campaign = campaign
    return deal


def _one_number(found, ada):
    """A campaign of one number, in two steps, open to everyone."""
    house, mine = found.house, {"cookie": ada._cookie}
    crowd = house.people(12)
    words = {
        "title": "Schlaf",
        "question": "Wie viele Stunden haben Sie geschlafen?",
        "unit": "Stunden",
        "purpose": "Für alle.",
    }
    campaign = registered(ada, crowd, **words)
    person = {"cookie": crowd[0]._cookie}
    found.see("for strangers", "GET", f"/c/{campaign}")
    found.see("choosing", "GET", f"/c/{campaign}", **person)
    found.see("home with a campaign", "GET", "/")
    ada.take(campaign, "close-registration")
    ada.take(campaign, "announce")
    finish_jobs(house.service)
    found.see("deal of one number", "GET", f"/c/{campaign}", **person)
    found.see("plan of one number", "GET", f"/a/c/{campaign}/plan", **mine)
    ada.take(campaign, "open-answers")
    found.see("join or decline", "GET", f"/c/{campaign}", **person)
    joining = {"csrf": crowd[0]._csrf, "round": "1"}
    found.see("read back", "POST", f"/c/{campaign}/join", data={**joining, "value": "7e0"}, **person)
    found.see("too many hours", "POST", f"/c/{campaign}/join", status=422, data={**joining, "value": "77"}, **person)
    for at, each in enumerate(crowd):
        each.join(campaign, 6.0 + at % 3)
    found.see("joined", "GET", f"/c/{campaign}", **person)
    ada.take(campaign, "close")
    ada.take(campaign, "release")
    finish_jobs(house.service)
    found.see("result of one number", "GET", f"/r/{campaign}")
    found.see("receipt of one number", "GET", f"/c/{campaign}/receipt", **person)
    found.see("me with a total", "GET", "/me", **person)
    found.see("home with a result", "GET", "/")


def _coming_and_going(found):
    """Someone who signs up, makes another way back, and leaves; and someone who uses a link in two steps."""
    found.see("a new key", "POST", "/sign-up")
    someone = found.house.person()
    mine, csrf = {"cookie": someone._cookie}, {"csrf": someone._csrf}
    found.see("another way back", "POST", "/me/recovery", data=csrf, **mine)
    found.see("a way back to keep", "POST", "/back/file", data={"key": new_secret()})
    found.see("not sure to leave", "POST", "/me/leave", status=422, data=csrf, **mine)
    found.see("left", "POST", "/me/leave", data={**csrf, "sure": "yes"}, **mine)
    asked = found.house.ada.draft(title="Schlaf", question="Wie viele Stunden?", bounds=(0, 12)).id
    found.house.ada.take(asked, "open")
    found.see("an invitation in two steps", "POST", "/i", data={"secret": found.house.ada.invite(asked, 1)[0]})


def _stopping(found, campaign):
    """Someone on a list who wants no more mail."""
    name = found.house.service.read(
        lambda link: link.scalar(select(invitees.c.id).where(invitees.c.campaign == campaign))
    )
    stop = f"/u/{stop_token(found.house.service, name)}"
    found.see("no more mail", "GET", stop)
    found.see("no mail any more", "POST", stop)


def _running(found, ada):
    mine, csrf = {"cookie": ada._cookie}, {"csrf": ada._csrf}
    found.see("admin", "GET", "/admin", **mine)
    found.see("admin link", "POST", "/admin/invite", data=csrf, **mine)
    found.see("an unknown analyst", "POST", "/admin/reset", status=422, data={**csrf, "name": "nobody"}, **mine)
    found.see("a colleague", "POST", "/a/colleague", data=csrf, **mine)
    draft = ada.draft(SHEET, quorum_people=10, sealed=True, language=found.mails).id
    listed = {**csrf, "list": "eins@example.org\nzwei@example.org"}
    found.see("a list", "POST", f"/a/c/{draft}/people", status=303, data=listed, **mine)
    found.see("the list", "GET", f"/a/c/{draft}/people?done=added", **mine)
    found.see("codes", "GET", f"/a/c/{draft}/qr", **mine)
    found.see("links", "POST", f"/a/c/{draft}/invitations", data={**csrf, "count": "3"}, **mine)
    _stopping(found, draft)
    ada.take(draft, "cancel")
    finish_jobs(found.house.service)
    found.see("cancelled", "GET", f"/a/c/{draft}", **mine)
