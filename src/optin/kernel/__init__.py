"""The mathematics of optin: numpy only, sums or arrays in, numbers out.

Every formula carries its number (E1 … E30); docs/theory derives them.
"""
