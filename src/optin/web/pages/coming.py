"""How people came to a campaign, and what is known about doubles, in words for those who ask and for those who read."""

from __future__ import annotations

from optin.wording.language import _


def doubles_before(most: int) -> str:
    """Say to an analyst, before an open link is given out, what it does not keep out.

    >>> doubles_before(50).split(": ")[0]
    'Whoever has this link can answer, 50 times in all'
    """
    return _(
        "Whoever has this link can answer, {most:,} times in all: pass it on only where that is meant. "
        "The same device counts once; someone who answers from a second device, or after erasing "
        "cookies, counts twice, and nothing here would show it: no address and no trait of a device is "
        "kept. If that matters, invite by a list: there each link counts once.",
        most=most,
    )


def doubles_after(*, public: bool, open_link: int) -> str:
    """Say to a reader whether the same person may have answered twice; nothing where everyone had a link of their own.

    >>> doubles_after(public=False, open_link=0)
    ''
    """
    if open_link:
        how = _("People came by an open link, which took at most {open_link:,} answers", open_link=open_link)
    elif public:
        how = _("Anyone could come in")
    else:
        return ""
    return _("{how}. The same device counted once; nobody checked that each person answered only once.", how=how)
