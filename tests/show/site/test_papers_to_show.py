"""`./run site --papers` shows papers of a user before those of the configuration."""

import runpy
from types import SimpleNamespace

from finished_runs import CHECKOUT

from reproduction.plan import plan as plans
from reproduction.show.site import sphinx_sources


def test_ones_own_papers_come_first(monkeypatch):
    planned = []
    monkeypatch.setattr(plans, "planned", lambda root, config, every: config)
    monkeypatch.setattr(sphinx_sources, "write_sources", lambda plan, root: planned.append(plan))
    written = runpy.run_path(str(CHECKOUT / "docs/_ext/results.py"))["write"]
    written(SimpleNamespace(config=SimpleNamespace(papers_to_show=["/mine/wine", "/mine/beans"])))
    assert planned[0]["papers"][:2] == ["/mine/wine", "/mine/beans"]
    assert "pnorm" in planned[0]["papers"][2:]
