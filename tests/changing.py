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
