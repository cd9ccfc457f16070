"""Promises in whole grains and the exact sums over them: over arrays in memory, and over rows of an engine."""
