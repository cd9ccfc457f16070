"""One visitor of the service: an analyst or a person, with their cookie and token."""

from __future__ import annotations

import json
import re
import secrets
import time
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from optin.extras import expect

try:
    import httpx
except ImportError:
    expect("web", "optin.client")
    raise

from optin.client.reading import makes_anew, plain, read, unreachable
from optin.client.records import (
    Admission,
    CampaignStatus,
    LadderStep,
    LimitCell,
    LogLine,
    MyCampaignStatus,
    MyTotals,
    Outlook,
    PublishedCampaign,
    campaign_from,
    my_campaign_from,
    published_from,
    totals_from,
)
from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.questions import Sheet
from optin.receipts import Receipt
from optin.wording.records import OneLine

_COOKIE = re.compile(r"__Host-optin(-browser)?=([^;]*)")


class Client(OneLine):
    """Visit a service as an analyst, as a person, or as nobody in particular.

    ``client = optin.Client("http://127.0.0.1:8000")``. What the service refuses is raised as on the command line: BadInput
    for what the caller can mend (not signed in, not yours), PromiseBroken for what would break an announcement,
    LedgerUnavailable if the service or its database cannot be reached: it says whether to ask again with the same client.
    """

    def __init__(self, url: str, *, timeout: float = 60.0) -> None:
        where = urlsplit(url)
        if where.scheme not in ("http", "https") or not where.netloc:
            raise BadInput("give the service's address, such as http://127.0.0.1:8000")
        self._origin = f"{where.scheme}://{where.netloc}"
        secure = where.scheme == "https"  # reading every certificate takes long, and plain http needs none
        self._http = httpx.Client(base_url=self._origin, timeout=timeout, trust_env=False, verify=secure)
        self._cookie = self._csrf = self._browser = ""
        self._fresh: dict[str, str] = {}

    def close(self) -> None:
        """Let the connection go; the session stays until it is signed out."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self._origin}>"

    # --- coming in ---

    def become_analyst(self, secret: str, name: str, password: str) -> str:
        """Use the one-time secret of a link; return the account's id."""
        return self._signed_in("/api/analysts", {"secret": secret, "name": name, "password": password})

    def sign_in(self, name: str, password: str) -> str:
        """Sign in as an analyst; return the account's id."""
        return self._signed_in("/api/session", {"name": name, "password": password})

    def sign_up(self) -> Admission:
        """Make a person's account; keep the key, it is shown once."""
        return self._entered("/api/people", None)

    def enter(self, secret: str, *, key: str | None = None) -> Admission:
        """Come in with an invitation (once) or with one's own key (always).

        An invitation goes to the account of the ``key`` one has, or to a new one. After a lost answer, ask this client again.
        """
        given = (
            {"key": key} if key is not None else {"fresh": self._fresh.setdefault(secret, secrets.token_urlsafe(32))}
        )
        return self._entered("/api/entry", {"secret": secret, **given})

    def sign_out(self) -> None:
        """End the session."""
        self._call("DELETE", "/api/session")
        self._cookie = self._csrf = ""

    # --- analysts ---

    def invite_analyst(self) -> str:
        """Make a one-time secret for another analyst, good for a week."""
        return str(self._call("POST", "/api/analysts/invitations")["secret"])

    def draft(
        self,
        sheet: Sheet | None = None,
        *,
        title: str = "",
        question: str = "",
        bounds: tuple[float, float] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> CampaignStatus:
        """Draft a campaign that asks a sheet or, with a ``title``, ``question`` and ``bounds``, for one number.

        ``more`` are the other settings of a draft, such as ``public`` or ``quorum_people``.
        """
        asked: dict[str, Any] = {"sheet": None if sheet is None else sheet.to_record()}
        if sheet is None:
            asked = {"title": title, "question": question}
        if bounds is not None:
            asked |= {"lower": bounds[0], "upper": bounds[1]}
        body = {**asked, **more}
        return campaign_from(self._call("POST", "/api/campaigns", body))

    def campaigns(self) -> list[CampaignStatus]:
        """List one's own campaigns."""
        return [campaign_from(one) for one in self._call("GET", "/api/campaigns")["campaigns"]]

    def campaign(self, campaign: str) -> CampaignStatus:
        """Show one's own campaign."""
        return campaign_from(self._call("GET", f"/api/campaigns/{campaign}"))

    def invite(self, campaign: str, count: int = 1, *, group: str | None = None, ids: Sequence[str] = ()) -> list[str]:
        """Make one-time secrets to send to people, of one public ``group`` if people are in groups; or one for each of ``ids``.

        Someone invited again by the same id keeps one total over all campaigns.
        """
        body = {"count": count, "group": group, "ids": list(ids)}
        return list(self._call("POST", f"/api/campaigns/{campaign}/invitations", body)["secrets"])

    def take(
        self,
        campaign: str,
        step: str,
        *,
        round: int | None = None,  # noqa: A002 - the word of the contract
        timeout: float = 600.0,
    ) -> CampaignStatus:
        """Take a step and wait until it is done; PromiseBroken, with the reason, if it failed.

        Idempotent. With ``round`` it is taken in that round or not at all.
        """
        body = None if round is None else {"round": round}
        status = campaign_from(self._call("POST", f"/api/campaigns/{campaign}/steps/{step}", body))
        patience, pause = time.monotonic() + timeout, 0.02
        while status.job is not None and status.job.state in ("queued", "running"):
            if time.monotonic() > patience:
                raise LedgerUnavailable("the step is still under way; look again later, it goes on by itself")
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
            status = self.campaign(campaign)
        if status.job is not None and status.job.kind == step and status.job.state == "failed":
            raise PromiseBroken(status.job.error or "the step failed")
        return status

    def open_link(self, campaign: str) -> str | None:
        """Show the secret of the link that anyone may use; None where the draft asks for none."""
        secret: str | None = self._call("GET", f"/api/campaigns/{campaign}/open-link")["secret"]
        return secret

    def can_again(self, campaign: str) -> dict[int, int]:
        """Say about how many people of a published campaign can take part once, twice, … more for as much, in tens."""
        times = self._call("GET", f"/api/campaigns/{campaign}/again")["again"]
        return {each["times"]: each["people"] for each in times}

    def extend(self, campaign: str, answer_by: str) -> CampaignStatus:
        """Move the last day to answer to a later one (2026-03-14), before the announcement; closed registration opens again."""
        body = {"answer_by": answer_by}
        return campaign_from(self._call("POST", f"/api/campaigns/{campaign}/extend", body))

    def cells(self, campaign: str) -> list[LimitCell]:
        """Show how limits are spread, in cells of at least ten people.

        Where fewer than ten people changed since cells were shown, those are given again, with a warning that says so.
        """
        answer = self._call("GET", f"/api/campaigns/{campaign}/cells")
        if answer.get("note"):
            warnings.warn(answer["note"], stacklevel=2)
        return [LimitCell(**one) for one in answer["cells"]]

    def able(self, campaign: str) -> int | None:
        """Say about how many of those who registered can take part, in tens; None if fewer than ten registered."""
        people: int | None = self._call("GET", f"/api/campaigns/{campaign}/able")["able"]
        return people

    def log(self, campaign: str) -> list[LogLine]:
        """List what was done with a campaign."""
        return [LogLine(**one) for one in self._call("GET", f"/api/campaigns/{campaign}/log")["events"]]

    def what_if(self, campaign: str, **changes: float) -> Outlook:
        """Ask what another ``max_gap``, ``sd``, ``slack`` or a ``decline_share`` would do."""
        return Outlook(**self._call("POST", f"/api/campaigns/{campaign}/what-if", changes))

    def foresee(self, draft: dict[str, Any], people: Sequence[int]) -> Outlook:
        """Foresee a draft's accuracy for so many people on each step of the ladder."""
        return Outlook(**self._call("POST", "/api/preview", {"draft": draft, "people": list(people)}))

    # --- people ---

    def me(self) -> MyTotals:
        """Show what one promised and spent over all campaigns."""
        return totals_from(self._call("GET", "/api/me"))

    def my_campaign(self, campaign: str) -> MyCampaignStatus:
        """Show a campaign, and what is one's own in it."""
        return my_campaign_from(self._call("GET", f"/api/me/campaigns/{campaign}"))

    def register(
        self,
        campaign: str,
        step: int,
        *,
        value: float | None = None,
        answers: Mapping[str, Any] | None = None,
        times: int | None = None,
        round: int | None = None,  # noqa: A002
    ) -> MyCampaignStatus:
        """State a limit as a step of the ladder; in a sealed campaign the answers (of one number, its value) come along.

        ``times`` sets one's total over all campaigns: what was given and promised so far, and so many campaigns like this
        one. Without it a total said before stays, and a first one is 4 times this limit. Several campaigns are counted up to
        epsilon 200, or as this one alone where it could ask for more.
        """
        body = {"step": step, "value": value, "answers": plain(answers), "times": times, "round": round}
        return my_campaign_from(self._call("PUT", f"/api/me/campaigns/{campaign}/registration", body))

    def withdraw(self, campaign: str) -> None:
        """Take a registration back; after the announcement this declines."""
        self._call("DELETE", f"/api/me/campaigns/{campaign}/registration")

    def join(
        self,
        campaign: str,
        value: float | Mapping[str, Any],
        *,
        round: int | None = None,  # noqa: A002
    ) -> MyCampaignStatus:
        """Join with answers by the names of questions (or one number), or change them.

        With ``round``, on that round's terms or not at all.
        """
        given = {"answers": plain(value)} if isinstance(value, Mapping) else {"value": value}
        body = {"join": True, **given, "round": round}
        return my_campaign_from(self._call("PUT", f"/api/me/campaigns/{campaign}/answer", body))

    def decline(self, campaign: str) -> MyCampaignStatus:
        """Decline, or take a yes back."""
        return my_campaign_from(self._call("PUT", f"/api/me/campaigns/{campaign}/answer", {"join": False}))

    def receipt(self, campaign: str) -> Receipt:
        """Fetch one's receipt of the release."""
        return Receipt.from_json(json.dumps(self._call("GET", f"/api/me/campaigns/{campaign}/receipt")))

    def raise_allowance(self, epsilon: float) -> MyTotals:
        """Raise what one allows over all campaigns."""
        return totals_from(self._call("PUT", "/api/me/allowance", {"epsilon": epsilon}))

    def lower_allowance(self, epsilon: float) -> MyTotals:
        """Lower what one allows over all campaigns, down to what was spent and is promised."""
        return totals_from(self._call("PUT", "/api/me/allowance", {"epsilon": epsilon, "lower": True}))

    def export(self) -> dict[str, Any]:
        """Fetch everything kept about oneself."""
        return self._call("GET", "/api/me/export")

    def leave(self) -> None:
        """Close one's account."""
        self._call("DELETE", "/api/me")
        self._cookie = self._csrf = ""

    # --- everyone ---

    def ladder(self, model: str = "privacy-constrained") -> list[LadderStep]:
        """List the steps from which people of a model choose."""
        name = "limits" if model == "privacy-constrained" else "costs"
        return [LadderStep(**one) for one in self._call("GET", "/api/ladder")[name]]

    def open_campaigns(self) -> list[MyCampaignStatus]:
        """List the campaigns in which anyone may register."""
        return [my_campaign_from(one) for one in self._call("GET", "/api/open")["campaigns"]]

    def published(self, campaign: str) -> PublishedCampaign:
        """Show an announced campaign and its result."""
        return published_from(self._call("GET", f"/api/published/{campaign}"))

    # --- talking ---

    def _signed_in(self, path: str, body: dict[str, Any]) -> str:
        answer = self._call("POST", path, body)
        self._csrf = answer["csrf_token"]
        return str(answer["account"])

    def _entered(self, path: str, body: dict[str, Any] | None) -> Admission:
        answer = self._call("POST", path, body)
        self._csrf = answer["csrf_token"]
        return Admission(answer["account"], answer["key"], answer["campaign"])

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Origin": self._origin, "X-CSRF-Token": self._csrf}
        cookies = {"__Host-optin": self._cookie, "__Host-optin-browser": self._browser}
        if any(cookies.values()):
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
        try:
            response = self._asked(method, path, body, headers)
        except httpx.HTTPError as error:
            reason = type(error).__name__
        else:
            self._keep_cookie(response)
            return read(response)
        raise unreachable(method, path, reason)

    def _asked(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> httpx.Response:
        """Ask; an idempotent request is sent again where the service has just hung up."""
        try:
            return self._http.request(method, path, json=body, headers=headers)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            if makes_anew(method, path):
                raise
        return self._http.request(method, path, json=body, headers=headers)

    def _keep_cookie(self, response: httpx.Response) -> None:
        """Keep the session's cookie ourselves: on plain http to this machine a cookie jar would hold it back."""
        self._http.cookies.clear()
        for given in response.headers.get_list("set-cookie"):
            cookie = _COOKIE.match(given)
            if cookie and cookie[1]:
                self._browser = cookie[2]
            elif cookie:
                self._cookie = cookie[2]
