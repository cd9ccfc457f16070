"""The scripts of the study are run by tests/test_study.py, not collected: the gallery has a make.py as well."""

collect_ignore = ["make.py", "data.py", "gap.py", "strata.py"]
