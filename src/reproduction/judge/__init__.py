"""Published values and claims against results: docs/verdicts.md explains the verdicts."""
