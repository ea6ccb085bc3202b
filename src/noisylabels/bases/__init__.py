"""What estimators share: labels, decision functions, results of many fits."""
