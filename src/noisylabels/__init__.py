"""Learning and filtering with noisy labels: adaptive filters, online learners and robust classifiers.

The library stands alone: it never imports the workflow that runs the papers' experiments.
"""


def __getattr__(name: str) -> str:
    """``noisylabels.__version__``, looked up when asked for: every job imports this file, none needs it."""
    if name != "__version__":
        raise AttributeError(f"module 'noisylabels' has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("noisylabels")
    except PackageNotFoundError:  # imported from the source tree (PYTHONPATH=src), not installed
        return "unknown"
