"""Plans, announcements and releases with some of their numbers changed, wherever in the record these stand."""

from dataclasses import replace

SUMS = {"people", "weight_squares", "pooled_people", "tilt", "epsilon_total"}
QUESTION = {"bounds", "data_variance", "max_gap"}
PROMISE = {"surplus", "benefit_name", "benefit_at_promise", "outside"}


def asked(sheet, changes):
    """A sheet of one number that is asked otherwise; values outside what is allowed are put there all the same."""
    question = replace(sheet.only)
    for name, value in changes.items():
        object.__setattr__(question, name, value)
    return type(sheet)([question], title=sheet.title, purpose=sheet.purpose, asked_by=sheet.asked_by)


def promised(promise, changes):
    from optin.planning.promise import PromisedVariance

    names = {"promised_variance": "variance"}
    before = promise or PromisedVariance(None)
    after = replace(before, **{names.get(name, name): value for name, value in changes.items()})
    return None if after == PromisedVariance(None) else after


def parted(changes, *groups):
    """Split changes by the record they belong to; what belongs to none comes last."""
    parts = [{name: changes.pop(name) for name in list(changes) if name in group} for group in groups]
    return (*parts, changes)


def changed_plan(plan, **changes):
    """A plan that says something else of itself."""
    question, promise, sums, rest = parted(changes, QUESTION, {*PROMISE, "promised_variance"}, SUMS)
    (design,) = plan.designs
    wish = plan.wish
    if rest.pop("eta_given", True) is False:
        wish = replace(wish, eta=None)
    sheet = asked(plan.sheet, question)
    if "eta" in rest:
        sums["epsilon_total"] = rest.pop("eta") * sheet.only.width
    variances = (rest.pop("variance"),) if "variance" in rest else design.variances
    cap = rest.pop("cap", design.cap)
    design = replace(design, cap=cap, variances=variances, sums=replace(design.sums, **sums))
    return replace(plan, sheet=sheet, designs=(design,), wish=wish, promise=promised(plan.promise, promise), **rest)


NAMED = {"campaign", "round", "model"}
ASKED = {"bounds", "data_variance", "max_gap"}
EXACT = {"total_grains", "total_squared_grains"}


def changed_offer(offer, **changes):
    """An announcement that says something else."""
    question, named, exact, promise, rest = parted(changes, ASKED, NAMED, EXACT, {*PROMISE, "promised_variance"})
    if "variance" in rest:
        rest["variances"] = (rest.pop("variance"),)
    terms = replace(offer.terms, **named, sheet=asked(offer.sheet, question)) if question or named else offer.terms
    public = replace(offer.public, promise=promised(offer.promise, promise), **rest)
    return replace(offer, terms=terms).stating(public=public, sealed=(replace(offer.sealed[0], **exact),))


def changed_release(release, **changes):
    """A release that says something else."""
    exact, rest = parted(changes, EXACT)
    answered = replace(release.answered[0], sums=replace(release.answered[0].sums, **exact))
    if "joined_people" in rest:
        answered = replace(answered, people=rest["joined_people"])
    if "tilt" in rest:
        answered = replace(answered, tilt=rest.pop("tilt"))
    if "noisy_totals" in rest:
        answered = replace(answered, noisy_totals=rest.pop("noisy_totals"))
    if "noisy_total" in rest:
        answered = replace(answered, noisy_totals=(rest.pop("noisy_total"), *answered.noisy_totals[1:]))
    return replace(release, answered=(answered,), **rest)


def parts_of(record):
    """Every object within a JSON record, itself first."""
    if isinstance(record, dict):
        yield record
    for part in record.values() if isinstance(record, dict) else record if isinstance(record, list) else ():
        yield from parts_of(part)


def part_with(record, name):
    """The object of a JSON record that holds a field."""
    return next(part for part in parts_of(record) if name in part)
