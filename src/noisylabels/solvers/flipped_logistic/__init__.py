"""Logistic regression whose labels were flipped at random: its likelihood and who maximises it."""
