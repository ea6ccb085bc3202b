"""Classifiers for noisy labels, as scikit-learn estimators."""
