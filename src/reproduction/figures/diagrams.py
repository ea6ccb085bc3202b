"""Block diagrams: boxes, sums and arrows; coordinates are inches from the lower left corner."""

from typing import Any

Point = tuple[float, float]
_LINE: dict[str, Any] = {"color": "black", "linewidth": 1.1}
_RADIUS = 0.13


class Diagram:
    """An empty figure of ``width`` by ``height`` inches; ``figure`` is the matplotlib figure."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width, height))
        self._ax = self.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
        self._ax.set_axis_off()

    def box(self, centre: Point, text: str, *, width: float, colour: str, height: float = 0.6) -> None:
        """A block with round corners around its text."""
        from matplotlib.patches import FancyBboxPatch

        corner = (centre[0] - width / 2, centre[1] - height / 2)
        shape = "round,pad=0,rounding_size=0.07"
        self._ax.add_patch(
            FancyBboxPatch(corner, width, height, shape, facecolor=colour, edgecolor="black", zorder=3)
        )
        self.text(centre, text, ha="center", va="center")

    def sum(self, centre: Point) -> None:
        """A circle with a cross, where signals are added."""
        from matplotlib.patches import Circle

        x, y = centre
        arm = 0.6 * _RADIUS
        self._ax.add_patch(Circle(centre, _RADIUS, facecolor="white", edgecolor="black", zorder=3))
        self._ax.plot([x - arm, x + arm], [y, y], zorder=4, **_LINE)
        self._ax.plot([x, x], [y - arm, y + arm], zorder=4, **_LINE)

    def fork(self, point: Point) -> None:
        """A dot, where a signal goes two ways."""
        self._ax.plot(*point, marker="o", markersize=4, color="black", zorder=3)

    def arrow(self, *points: Point, **looks: Any) -> None:
        """A polyline with a head at its last point."""
        looks = _LINE | looks
        x, y = zip(*points, strict=True)
        self._ax.plot(x, y, solid_joinstyle="miter", zorder=2, **looks)
        head: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.28,head_length=0.6", "linewidth": 0}
        head |= {"color": looks["color"], "shrinkA": 0, "shrinkB": 0}
        self._ax.annotate("", points[-1], points[-2], arrowprops=head, zorder=2)

    def text(self, point: Point, text: str, **looks: Any) -> None:
        """A symbol or a label."""
        self._ax.text(*point, text, **({"fontsize": 10, "zorder": 4} | looks))
