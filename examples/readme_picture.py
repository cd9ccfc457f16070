"""Draw the picture of the README: the standard mix of limits, and what the plan takes from each person."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import optin
from optin import figures

rng = np.random.default_rng(7)
mix = [rng.uniform(0.01, 0.2, 1080), rng.uniform(0.2, 1, 740), np.ones(180)]
people = optin.PrivacyConstrained(np.concatenate(mix))
plan = optin.plan(people, bounds=(0, 40), sd=9)
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
words = figures.limits(axes, plan, optin.describe(people))
out = Path(__file__).parent.parent / "docs" / "pictures" / "limits.png"
figure.savefig(out, dpi=130)
print(words)
