"""Classifiers for noisy labels; scikit-learn estimators."""
