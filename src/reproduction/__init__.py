"""The project: five papers on learning with noisy labels, from data to verdict, in a checkout."""
