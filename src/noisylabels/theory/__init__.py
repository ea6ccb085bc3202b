"""What the papers prove, as functions: divergences, bounds, factors."""
