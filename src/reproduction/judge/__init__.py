"""Published values and claims against results: docs/verdicts.md explains how a verdict is reached."""
