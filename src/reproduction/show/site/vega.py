"""Specifications of the interactive charts, as Vega-Lite reads them, from the numbers of `charts`.

A specification is a dictionary. Nothing is drawn here: Vega-Lite draws in the browser.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from reproduction.show.site import charts
from reproduction.spec.verdict_words import describe, look_up

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
COLOURS = {"good": "#1b7f4b", "open": "#c98a00", "bad": "#c33a33", "none": "#8a939c"}
"""Colour of a class of verdicts."""
HEIGHT = 320
"""Height of the chart of curves, in pixels."""
ROW_HEIGHT = 17
"""Height of one published value, in pixels."""
LONGEST_LABEL = 260
"""Width that the name of a published value may take, in pixels."""


def quantitative(field: str, title: str | None = None, **options: Any) -> Spec:
    """Describe an axis of numbers."""
    return {"field": field, "type": "quantitative", "title": title} | options


def draw_curves(panels: Sequence[Mapping[str, Any]]) -> Spec:
    """Draw means with their bands: a menu chooses the panel, the legend highlights a method."""
    rows: list[Spec] = []
    curves: dict[str, Mapping[str, Any]] = {}
    for panel in panels:
        name = name_panel(panel)
        rows += [curve | {"panel": name} for curve in list_curves(panel)]
        curves |= {curve["method"]: curve for curve in panel["curves"]}
    names = list(dict.fromkeys(row["panel"] for row in rows))
    legend = {
        "orient": "bottom",
        "columns": {"expr": "width < 500 ? 1 : 3"},
        "labelLimit": 300,
        "symbolType": "stroke",
    }
    colours = [curve["colour"] for curve in curves.values()]
    dashes = [parse_dash(curve["dash"]) for curve in curves.values()]
    shared = {
        "x": quantitative("x", panels[0]["x"]),
        "color": {
            "field": "method",
            "type": "nominal",
            "title": None,
            "scale": {"domain": list(curves), "range": colours},
            "legend": legend,
        },
        "opacity": {"condition": {"param": "shown", "value": 1}, "value": 0.08},
    }
    limits = {"y": quantitative("low"), "y2": {"field": "high"}}
    band = {
        "mark": {"type": "area", "opacity": 0.15, "clip": True},
        "encoding": shared | limits | {"opacity": {"value": 0.15}},
    }
    line = {
        "mark": {"type": "line", "clip": True},
        "params": [
            {"name": "shown", "select": {"type": "point", "fields": ["method"]}, "bind": "legend"},
            {"name": "zoom", "select": "interval", "bind": "scales"},
        ],
        "encoding": shared
        | {
            "y": quantitative("y", scale={"zero": False}),
            "strokeDash": {
                "field": "method",
                "type": "nominal",
                "title": None,
                "legend": legend,
                "scale": {"domain": list(curves), "range": dashes},
            },
            "tooltip": [{"field": "method"}, {"field": "x"}, {"field": "y", "format": ".4"}],
        },
    }
    spec: Spec = {
        "width": "container",
        "height": HEIGHT,
        "data": {"values": rows},
        "transform": [{"flatten": ["x", "y", "low", "high"]}],
        "layer": [band, line],
    }
    if len(names) > 1:
        menu = {"input": "select", "options": names, "name": "Panel: "}
        spec["params"] = [{"name": "panel", "value": names[0], "bind": menu}]
        spec["transform"] = [{"filter": "datum.panel == panel"}, *spec["transform"]]
    return spec


def name_panel(panel: Mapping[str, Any]) -> str:
    """Name a panel by its metric and by what varies between panels."""
    return " · ".join(part for part in (panel["title"], panel["where"]) if part)


def list_curves(panel: Mapping[str, Any]) -> list[Spec]:
    """List the curves of a panel, each in columns; Vega-Lite makes rows of them."""
    rows = []
    for curve in panel["curves"]:
        row = {"method": curve["method"], "x": curve["x"], "y": curve["y"], "low": [], "high": []}
        for y, half in zip(curve["y"], curve.get("half", []), strict=False):
            is_known = y is not None and half is not None
            row["low"].append(round_number(y - half) if is_known else None)
            row["high"].append(round_number(y + half) if is_known else None)
        rows.append(row)
    return rows


def round_number(number: float) -> float:
    """Round to five digits."""
    return float(f"{number:.5g}")


def parse_dash(dash: str) -> list[float]:
    """Parse the dashes of a line of SVG; a line without any is solid."""
    if not dash[:1].isdigit():
        return [1, 0]
    return [float(length) for length in dash.replace(",", " ").split()]


def draw_published(lines: Sequence[charts.Line]) -> Spec:
    """Draw the published values: our value minus theirs, divided by the tolerance."""
    rows = [describe_line(line) for line in lines]
    domain = {"domain": [-charts.REACH, charts.REACH], "clamp": True}
    title = "(our value − published value) / tolerance"
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": LONGEST_LABEL},
    }
    x = quantitative("at", title, scale=domain)
    band = {
        "data": {"values": [{"from": -1, "to": 1}]},
        "mark": {"type": "rect", "opacity": 0.12},
        "encoding": {"x": quantitative("from", title, scale=domain), "x2": {"field": "to"}},
    }
    interval = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    rule = {"mark": "rule", "encoding": interval}
    colour = describe_colours(rows)
    shown = ("label", "verdict", "our value", "published value", "difference / tolerance")
    tooltip = [{"field": field} for field in shown]
    point = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {"y": y, "x": x, "color": colour, "tooltip": tooltip},
    }
    labels = {row["label"] for row in rows}
    return {
        "width": "container",
        "height": ROW_HEIGHT * len(labels),
        "data": {"values": rows},
        "layer": [band, rule, point],
    }


def describe_colours(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Describe the colours of the verdicts of some rows."""
    colours = {row["verdict"]: COLOURS[row["colour"]] for row in rows}
    return {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": {"orient": "top"},
    }


def describe_line(line: charts.Line) -> Spec:
    """Describe a published value for its line of the chart and for its tooltip."""
    return {
        "label": line.label,
        "verdict": describe(line.row),
        "colour": look_up(line.row["verdict"]).colour,
        "at": round_number(line.difference),
        "low": round_number(line.low),
        "high": round_number(line.high),
        "our value": charts.figure(float(line.row["estimate"])),
        "published value": charts.figure(float(line.row["published"])),
        "difference / tolerance": round_number(line.difference),
    }


def draw_agreement(plot: charts.Plot) -> Spec:
    """Draw the difference of each value from the published one against the published one."""
    rows = [
        {
            "verdict": look_up(verdict).label,
            "colour": look_up(verdict).colour,
            "published": round_number(published),
            "difference": round_number(difference),
            "value": label,
        }
        for verdict, published, difference, label in plot.points
    ]
    lines = [{"at": round_number(height), "line": name} for height, name in plot.lines]
    colour = describe_colours(rows)
    tooltip = [{"field": field} for field in ("value", "published", "difference")]
    point = {
        "mark": {"type": "point", "filled": True, "size": 45},
        "encoding": {
            "x": quantitative("published", "published value", scale={"zero": False}),
            "y": quantitative("difference", "our value − published value"),
            "color": colour,
            "tooltip": tooltip,
        },
    }
    rule = {
        "data": {"values": lines},
        "mark": {"type": "rule", "strokeDash": [4, 3]},
        "encoding": {"y": quantitative("at"), "tooltip": [{"field": "line"}, {"field": "at"}]},
    }
    return {"width": "container", "height": 260, "data": {"values": rows}, "layer": [rule, point]}


def embed(spec: Spec, label: str) -> Markup:
    """Embed a chart into a page: an empty box and what a script of the page draws in it."""
    shared = {"$schema": SCHEMA, "config": {"background": None}, "autosize": {"type": "fit-x"}}
    whole = shared | spec
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup('<div class="chart" role="img" aria-label="{}">').format(label) + Markup(
        f'<script type="application/json">{text}</script></div>'
    )
