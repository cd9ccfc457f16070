"""What optin costs, as ratios within one run: absolute times on shared machines mean nothing."""
