"""Protocols that any paper can use: an artifact names one as ``protocol: stock:errors``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from reproduction.run.protocol_loop import Loop, Row, seeded
from reproduction.run.splits import check_count
from reproduction.run.training import Outcome, TrainingSettings, resolve, train
from reproduction.spec import settings as keys
from reproduction.spec.metrics import ERROR, Metric
from reproduction.spec.noise_kinds import Target, for_target
from reproduction.spec.protocol import protocol
from reproduction.spec.user_modules import find_function


class ErrorsSettings(keys.SplitSettings, TrainingSettings):
    """Settings of `errors`."""

    def settings_of(self, method: str) -> list[str]:
        """List the ways in which the method is selected."""
        if method not in self.methods:
            return []
        return [selection or "" for selection in self.methods[method].selections]

    @model_validator(mode="after")
    def _conditions(self) -> Self:
        for label, method in self.methods.items():
            if method.noise is not None:
                self._check_noise(f"methods.{label}.noise", method.noise)
            for selection, noise in method.also.items():
                self._check_noise(f"methods.{label}.also.{selection}", noise)
        return self

    def _check_noise(self, key: str, noise: keys.Flips) -> None:
        """Check that a method is run on some noise of the settings."""
        if not set(noise) & set(self.noise):
            of_method = ", ".join(map(str, noise))
            labels = ", ".join(map(str, self.noise))
            raise ValueError(f"{key}: none of {of_method} is in the settings: {labels}")


METRICS = ("error", "width", "parameter", "validation_size", "omega01", "omega10", "flagged")


@protocol(ErrorsSettings, labels=METRICS)
def errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure test errors of classifiers that are trained on noisy labels.

    repetition = number of the split, setting = how the method was selected.

    Metrics: error, wrong test labels in %; width and parameter, what cross-validation chose, and
    validation_size, the number of rows it was judged on; omega01 and omega10, the estimated flip
    rates P(observed 1 | true 0) and P(observed 0 | true 1); flagged, 1 where the fit is a fallback
    or doubtful.
    """
    methods = resolve(settings, settings.noise)
    for repetition, split, noisy in loop.noisy_splits(settings):
        outcomes = train(methods, split, noisy, settings, repetition)
        for column, noise in enumerate(settings.noise):
            for method in methods:
                if column not in outcomes[method.key]:
                    continue
                outcome = outcomes[method.key][column]
                selection = method.selection or ""
                columns = {"noise": noise.label, "method": method.label, "setting": selection}
                labelled = repetition.with_columns(**columns)
                yield labelled.row("error", split.scored(outcome.scores > 0))
                yield from labelled.rows(_numbers(outcome))


def _numbers(outcome: Outcome) -> dict[str, float]:
    """Select the chosen and estimated values that are numbers."""
    quantities: dict[str, object] = {}
    if outcome.choice is not None:
        quantities["width"] = outcome.choice.width
        quantities |= outcome.choice.parameters
        quantities["validation_size"] = outcome.choice.rows
    quantities["omega01"] = outcome.omega01
    quantities["omega10"] = outcome.omega10
    quantities["flagged"] = outcome.flagged
    numbers = {}
    for name, value in quantities.items():
        if isinstance(value, int | float) and value == value:
            numbers[name] = value
    return numbers


class ScoreSettings(keys.SplitSettings):
    """Settings of protocols that fit any method on splits and measure any metric."""

    methods: keys.Methods[keys.Method] = Field(
        description="label -> a class with fit and predict, `sklearn.svm:SVC` or your own"
    )
    metrics: keys.Distinct[Metric] = Field(
        description="`error`, names of scikit-learn such as `roc_auc`, or your own `code:regret`, "
        "a function of true and predicted targets"
    )

    def list_labels(self) -> list[str]:
        """List the labels of rows, to which metrics belong."""
        return [*super().list_labels(), *(metric.label for metric in self.metrics)]

    def check_custom(self) -> None:
        """Check the user's code, to which a paper's metrics belong."""
        super().check_custom()
        for metric in self.metrics:
            if metric.custom:
                find_function("metric", metric.name)


class ClassificationSettings(ScoreSettings):
    """Settings of `classification`."""

    noise: Annotated[keys.Flips, keys.only(*for_target("two classes"))]


class RegressionSettings(ScoreSettings):
    """Settings of `regression`."""

    noise: Annotated[keys.Flips, keys.only(*for_target("real"))]

    @model_validator(mode="after")
    def _no_classes(self) -> Self:
        if self.splits is not None and "stratified" in self.splits.model_fields_set:
            raise ValueError("splits.stratified: real values have no classes; remove it")
        if ERROR in [metric.name for metric in self.metrics]:
            rule = "counts wrong labels; use a metric of real values, such as mean_absolute_error"
            raise ValueError(f"metrics: error {rule}")
        return self


@protocol(ClassificationSettings, targets=("classes",))
def classification(settings: ClassificationSettings, loop: Loop) -> Iterator[Row]:
    """Measure any metric of any classifiers of two or K classes, trained on noisy labels.

    repetition = number of the split. The classes are the numbers from 0, in the order of y.
    """
    yield from _scores(settings, loop, "classes")


@protocol(RegressionSettings, targets=("real",))
def regression(settings: RegressionSettings, loop: Loop) -> Iterator[Row]:
    """Measure any metric of any regressors, trained on noisy values.

    repetition = number of the split. The true values of the test rows have no noise.
    """
    yield from _scores(settings, loop, "real")


def _scores(settings: ScoreSettings, loop: Loop, target: Target) -> Iterator[Row]:
    fits = loop.fits(settings, settings.methods, target)
    for repetition, split, observed, _, method in fits:
        rng = repetition.rng(f"method {repetition.columns['method']}")
        model = seeded(method.build(), rng).fit(split.X, observed)
        predicted = model.predict(split.X_test)
        if target == "classes":
            split.checked(predicted)
        else:
            check_count(predicted, len(split.X_test))
        for metric in settings.metrics:
            if metric.name == ERROR:
                yield repetition.row(metric.label, split.scored(predicted))
            else:
                value = metric.measure(model, split.X_test, split.truth)
                yield repetition.row(metric.label, value)
