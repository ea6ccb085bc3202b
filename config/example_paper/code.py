"""The method, the protocol and the figure of the paper."""

import numpy as np
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin

from reproduction.figures import names, panels
from reproduction.protocols.settings import Method, Methods, SplitSettings
from reproduction.protocols.walk import protocol


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest; means are drawn towards the middle by ``shrinkage``."""

    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        """Means of the rows of each class."""
        self.classes_ = np.unique(y)
        means = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        self.means_ = means + self.shrinkage * (X.mean(axis=0) - means)
        return self

    def predict(self, X):
        """The class of the nearest mean."""
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class Settings(SplitSettings):
    """Settings of `errors`: repetitions, data sets and noise are those of every experiment on splits."""

    methods: Methods[Method] = Field(description="label -> method")


@protocol(Settings, labels=("error",))
def errors(settings, walk):
    """Test error in % of every method, trained on flipped labels."""
    for at, split, observed, _, method in walk.fits(settings, settings.methods):
        model = method.build().fit(split.X, observed)
        yield at.row("error", split.scored(model.predict(split.X_test)))


@panels.figure
def bars(results):
    """Mean error of every method with its 95 % interval; a panel for each data set."""
    table = results.select(metric="error")
    methods, sets = table["method"].unique(), list(table["dataset"].unique())
    figure, axes = panels.grid_of_panels([""], sets, x_label="", y_label="test error, %")
    legend = panels.handles(methods, linestyle="none")
    for ax, name in zip(axes.flat, sets, strict=True):
        part = table[table["dataset"] == name]
        for number, (method, handle) in enumerate(zip(methods, legend, strict=True)):
            values = part[part["method"] == method].groupby("noise", sort=False)["value"]
            at = np.arange(len(values)) + 0.15 * (number - (len(methods) - 1) / 2)
            look = {"color": handle.get_color(), "marker": handle.get_marker(), "linestyle": "none"}
            ax.errorbar(at, values.mean(), 1.96 * values.sem(), **look)
        ax.set_xticks(
            np.arange(len(values)), [names.noise(noise).replace(", ", ",\n") for noise in values.groups]
        )
        ax.set_xlim(-0.5, len(values) - 0.5)
    panels.shared_legend(figure, legend)
    return figure
