"""Plans, announcements and releases with some of their numbers changed, wherever in the record these stand."""

from dataclasses import replace

from optin.announcement.numbers import AnnouncedDesign, ExactNumbers
from optin.announcement.sealed import Seal, commitment_to
from optin.releasing.sealed import commitment_of

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
    from optin.planning.shared_numbers import PromisedVariance

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
    design, promises = offer.only_design, promised(offer.promise, promise)
    if offer.sealed is None:  # the public file alone
        return replace(offer, terms=terms, designs=(replace(design, public=replace(offer.public, **rest)),))
    known = offer.sealed.question_sums[0]
    sums = replace(known, **exact) if exact else known
    numbers = ExactNumbers(replace(design.exact.numbers, promise=promises, **rest), (sums,))
    forged = AnnouncedDesign(replace(offer.public, promise=promises, **rest), numbers)
    seal = offer.seal and Seal(commitment_to([forged], offer.seal.salt), offer.seal.salt)
    return replace(offer, terms=terms, designs=(forged,), seal=seal)


def changed_release(release, **changes):
    """A release that says something else."""
    exact, rest = parted(changes, EXACT)
    told = release.answered[0]
    if release.sealed is None:  # the public file alone: another estimate
        rest.pop("noisy_total")
        cells = (told.told.cells[0] + 1.0, *told.told.cells[1:])
        return replace(release, answered=(replace(told, told=replace(told.told, cells=cells)),), **rest)
    answered = release.sealed.answered[0]
    answered = replace(answered, sums=replace(answered.sums, **exact))
    if "joined_people" in rest:
        told, answered = (replace(each, people=rest["joined_people"]) for each in (told, answered))
    if "tilt" in rest:
        tilt = rest.pop("tilt")
        told, answered = (replace(each, tilt=tilt) for each in (told, answered))
    if "noisy_totals" in rest:
        answered = replace(answered, noisy_totals=rest.pop("noisy_totals"))
    if "noisy_total" in rest:
        answered = replace(answered, noisy_totals=(rest.pop("noisy_total"), *answered.noisy_totals[1:]))
    if release.seal is None:
        return replace(release, answered=(answered,), **rest)
    forged = replace(release, answered=(replace(told, sealed=answered),), **rest)
    return replace(forged, seal=Seal(commitment_of(forged, release.seal.salt), release.seal.salt))


def parts_of(record):
    """Every object within a JSON record, itself first."""
    if isinstance(record, dict):
        yield record
    for part in record.values() if isinstance(record, dict) else record if isinstance(record, list) else ():
        yield from parts_of(part)


def part_with(record, name):
    """The object of a JSON record that holds a field."""
    return next(part for part in parts_of(record) if name in part)


def numbers_of(offer):
    """What two offers of the same numbers have in common: all but the random salt, and the exact numbers under the seal."""
    record = offer.to_record()
    record.pop("commitment", None)
    return record, [design.exact.to_record() for design in offer.designs]
