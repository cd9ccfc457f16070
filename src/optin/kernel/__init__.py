"""The mathematics of optin: numpy only, sums or arrays in, numbers out.

Every formula carries its number (E1 … E17); docs/theory derives them.
"""
