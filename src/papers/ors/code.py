"""Experiments on online regression with controlled label noise, and our own.

Errors are against the clean label. Every repetition has its tuning sequence, "tuning 0",
"tuning 1", ...; the streams x, u, n, v, label1, label2, ... of a repetition are the same for every
method.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from noisylabels.filters.base import NoisySequence, Sliding, window_starts
from noisylabels.filters.label_budget import PERIOD, run_budget, tune_a
from noisylabels.noise.additive import OTHER_LABELS, hammer_variances, noisy_labels, variances
from noisylabels.validation import Floats
from reproduction.run import tuning
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.tuning import (
    FilterMethod,
    FilterSettings,
    Found,
    losses,
    tune_all,
    tuned_apart,
)
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import (
    Distinct,
    Label,
    Model,
    NonNegative,
    Positive,
    Repeated,
    among,
)

CHANNEL = np.sinc(np.arange(10) / 2)
"""Impulse response of the channel, h_k = sin(pi k/2) / (pi k/2), of minimum phase."""
WARM_UP = 40
"""Samples that fill the delay line of the equaliser and are not scored."""
CANONICAL = "canonical"
"""The published variant of each data set."""
SCALING = {"scaling": True, "no scaling": False}

Rounds = Annotated[int, Field(ge=2, description="rounds")]
Inputs = Annotated[int, Field(ge=1, description="inputs, or taps")]
Variances = Literal["uniform", "increasing", "decreasing", "constant"]


# The labelled sequences


class Synthetic(Model):
    """Base of tasks that are drawn at random."""

    def source(self, loop: Loop) -> Row:
        """Return the columns dataset and source."""
        return {"dataset": "synthetic", "source": "synthetic"}


class Linear(Synthetic):
    """Settings of regression on a linear target that is drawn for each repetition.

    y_t = u.x_t + n_t with x_t, u ~ N(0, I_d), n_t ~ N(0, process_noise), v_t in [0, M].
    Source: ORS paper, Section 4, Figs. 2, 6 and 7.
    """

    T: Rounds
    d: Inputs
    M: NonNegative = Field(description="largest variance of the label noise")
    process_noise: NonNegative = Field(description="variance of n_t")

    def draw(
        self,
        repetition: Repetition,
        *,
        model: str = "uniform",
        labels: int = 2,
    ) -> NoisySequence:
        """Draw the sequence with ``labels`` noisy labels a round, and variances of ``model``."""
        x = repetition.rng("x").standard_normal((self.T, self.d))
        u = repetition.rng("u").standard_normal(self.d)
        noise = repetition.rng("n").standard_normal(self.T)
        y = x @ u + np.sqrt(self.process_noise) * noise
        v = variances(model, self.T, self.M, repetition.rng("v"))
        return NoisySequence(x=x, y=y, labels=_labels(y, v, repetition, labels), v=v)


class Regression(Linear):
    """The task of `Linear`: a target and rows drawn for each repetition."""

    kind: Literal["regression"]
    variance_model: Variances = "uniform"
    labels: int = Field(2, ge=1, description="labels per round")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """Draw the sequence of a repetition."""
        return self.draw(repetition, model=self.variance_model, labels=self.labels)


class Equalizer(Synthetic):
    """Settings of the recovery of a signal behind a channel.

    s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n, s ~ N(0, 1); h is `CHANNEL`, n ~
    N(0, channel_noise); T rounds after a warm-up; v_t ~ U[0, M].
    Source: ORS paper, Section 4, Figs. 3 and 4; decoding delay 0 is our choice (h is minimum
    phase).
    """

    kind: Literal["equalizer"]
    T: Rounds
    d: Inputs
    M: NonNegative
    channel_noise: NonNegative = Field(description="variance of n(t)")
    delay: int = Field(0, ge=0, description="decoding delay in samples")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """Draw the sequence of a repetition."""
        n = self.T + WARM_UP + self.delay
        s = repetition.rng("x").standard_normal(n)
        x = np.convolve(s, CHANNEL)[:n]
        x += np.sqrt(self.channel_noise) * repetition.rng("n").standard_normal(n)
        rows = Sliding(x, self.d, delay=self.delay).rows(WARM_UP, WARM_UP + self.T)
        y = s[WARM_UP : WARM_UP + self.T].copy()
        v = variances("uniform", self.T, self.M, repetition.rng("v"))
        return NoisySequence(x=rows, y=y, labels=_labels(y, v, repetition, 2), v=v)


class Speech(Model):
    """Settings of the recovery of speech behind a room, with the noise of a hammer on the labels.

    s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n. s is the data set `speech`, brought
    to zero mean and unit variance; n ~ N(0, channel_noise). A tuning sequence is the first
    ``tuning_fraction`` of the signal, with other noise.
    Source: ORS paper, Section 4, Fig. 5; standardisation, modelling delay and hammer noise are our
    choices.
    """

    kind: Literal["speech"]
    d: Inputs
    delay: int = Field(ge=0, description="modelling delay in samples")
    channel_noise: NonNegative
    room: str = Field(description="simulated, or the data set of a recorded response")
    room_taps: int = Field(ge=1)
    tuning_fraction: float = Field(
        gt=0,
        le=1,
        description="first part of the signal used for tuning",
    )
    seconds: Positive | None = Field(None, description="use only the first seconds of the signal")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """Draw the sequence of a repetition.

        Raises ValueError : a silent signal, fewer samples than taps.
        """
        arrays = loop.data["speech"].arrays
        rate = int(arrays["rate"])
        signal = arrays["signal"]
        if self.seconds is not None:
            signal = signal[: round(self.seconds * rate)]
        scale = signal.std()
        if not scale > 0:
            raise ValueError("speech: the signal is silent (all samples are equal)")
        s = (signal - signal.mean()) / scale
        x = _convolve(s, self._response(loop, rate))
        x += np.sqrt(self.channel_noise) * repetition.rng("n").standard_normal(len(s))
        v = hammer_variances(len(s), rate, repetition.rng("v"))
        labels = _labels(s, v, repetition, 2)
        is_tuning = isinstance(repetition.number, str)
        n = round((self.tuning_fraction if is_tuning else 1.0) * len(s))
        rows = Sliding(x, self.d, delay=self.delay, n=n)
        return NoisySequence(x=rows, y=s[:n], labels=labels[:n], v=v[:n])

    def _response(self, loop: Loop, rate: int) -> Floats:
        """Load the response of the room, ``room_taps`` long and of unit norm."""
        from reproduction.data.loaders import audio

        if self.room == "simulated":
            return audio.simulated(taps=self.room_taps, rate=rate)
        recorded = loop.data[self.room].arrays
        recorded_rate = int(recorded["rate"])
        return audio.recorded(recorded["signal"], recorded_rate, taps=self.room_taps, to_rate=rate)

    def source(self, loop: Loop) -> Row:
        """Return the columns dataset and source; they name variants that were not published."""
        data_sets = ["speech"]
        if self.room != "simulated":
            data_sets.append(self.room)
        variants = dict.fromkeys(loop.data[name].variant for name in data_sets)
        other_variants = [variant for variant in variants if variant != CANONICAL]
        return {"dataset": "speech", "source": " + ".join(other_variants) or CANONICAL}


def _labels(y: Floats, v: Floats, repetition: Repetition, count: int) -> Floats:
    generators = [repetition.rng(f"label{k}") for k in range(1, count + 1)]
    return noisy_labels(y, v, generators)


def _convolve(s: Floats, h: Floats) -> Floats:
    from scipy import fft  # scipy.signal gives the same bits, but takes half a second to import

    n = fft.next_fast_len(len(s) + len(h) - 1, real=True)
    return np.asarray(fft.irfft(fft.rfft(s, n) * fft.rfft(h, n), n)[: len(s)])


# Figs. 2, 4 and 5: learning curves


Task = Annotated[Regression | Equalizer | Speech, Field(discriminator="kind")]


class CurvesSettings(FilterSettings):
    """Settings of learning curves of filters on several tasks."""

    windows: int = Field(ge=1, description="points per curve")
    modes: Distinct[tuning.Mode]
    tasks: dict[Label, Task] = Field(min_length=1)

    @model_validator(mode="after")
    def _mode(self) -> Self:
        self.check_mode(self.modes)
        return self

    def check_data(self, listed: Iterable[str]) -> None:
        """Check the data sets; speech and recorded rooms are among them."""
        for name, task in self.tasks.items():
            if isinstance(task, Speech):
                among(f"tasks.{name}.kind", ["speech"], listed)
                among(f"tasks.{name}.room", {task.room} - {"simulated"}, listed)


TunedByTask = dict[str, dict[str, dict[str, Found]]]
"""Type of {task: {mode: {method: tuned parameters}}}."""


def tune_curves(settings: CurvesSettings, loop: Loop) -> dict[str, TunedByTask]:
    """Tune every method on every task, for each repetition."""

    def tune_on(repetition: Repetition) -> TunedByTask:
        tuned: TunedByTask = {}
        for name, task in settings.tasks.items():
            sequence = task.sequence(loop, repetition)
            tuned[name] = {}
            for mode in settings.modes:
                tuned[name][mode] = tune_all(settings, mode, sequence)
        return tuned

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(CurvesSettings, tune=tune_curves, labels=("mse", "mse_window", "mse_tail"))
def filter_curves(settings: CurvesSettings, loop: Loop) -> Iterator[Row]:
    """Run every method, tuned in every mode, on every task.

    Metrics: mse, mse_t = (1/t) sum_{s<=t} (yhat_s - y_s)^2; mse_window, the mean over the rounds
    since the previous point, both at the ends of `windows` equal windows; mse_tail, the mean over
    the last fifth of them. noise = task, setting = mode, x = rounds seen.
    """
    labels = list(itertools.product(settings.modes, settings.methods))
    for name, task in settings.tasks.items():
        for repetition in loop:
            tuned = loop.tuned[str(repetition.number)][name]
            pairs = []
            for mode, method in labels:
                pairs.append((settings.methods[method], tuned[mode][method]["parameters"]))
            noisy = task.sequence(loop, repetition)
            per_window = losses(pairs, noisy, settings.windows)
            rounds = np.append(window_starts(len(noisy), settings.windows)[1:], len(noisy))
            lengths = np.diff(rounds, prepend=0)
            n_tail = max(1, len(rounds) // 5)
            for (mode, method), window in zip(labels, per_window, strict=True):
                columns = {"noise": name, "setting": mode, "method": method}
                labelled = repetition.with_columns(**columns, **task.source(loop))
                tail = np.average(window[-n_tail:], weights=lengths[-n_tail:])
                yield labelled.row("mse_tail", tail, x=float(rounds[-1]))
                cumulative = np.cumsum(window * lengths) / rounds
                yield from labelled.curve("mse", zip(rounds, cumulative, strict=True))
                yield from labelled.curve("mse_window", zip(rounds, window, strict=True))


# Ours, after Section 6: what the filters know of the noise is wrong


class Condition(Model):
    """Settings of noise that the filters do not expect; ``{}`` is the noise of their tuning."""

    factor: NonNegative | None = Field(None, description="given variance = factor x true variance")
    lognormal: NonNegative | None = Field(
        None,
        description="standard deviation of log(given/true variance)",
    )
    constant: NonNegative | None = Field(None, description="given variance of every label")
    labels: str | None = Field(
        None,
        description="other corruption: a key of noise.additive.OTHER_LABELS",
    )

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if len(self.model_fields_set) > 1:
            fields = " and ".join(sorted(self.model_fields_set))
            raise ValueError(f"{fields}: a condition changes one thing")
        if self.labels is not None:
            among("labels", [self.labels], OTHER_LABELS)
        return self

    def apply(self, true: NoisySequence, repetition: Repetition) -> NoisySequence:
        """Return the sequence as the filter gets it."""
        if self.labels is not None:
            corrupt = OTHER_LABELS[self.labels]
            first, v = corrupt(true.y, repetition.rng("label1"))
            second, _ = corrupt(true.y, repetition.rng("label2"))
            return dataclasses.replace(true, labels=np.column_stack([first, second]), v=v)
        factor = 1.0 if self.factor is None else self.factor
        v = true.v * factor
        if self.lognormal is not None:
            v = v * np.exp(self.lognormal * repetition.rng("v_error").standard_normal(len(v)))
        if self.constant is not None:
            v = np.full(len(v), self.constant)
        return dataclasses.replace(true, v=v)


class ConditionsSettings(FilterSettings):
    """Settings of filters under conditions other than those for which they were tuned."""

    task: Regression
    mode: tuning.Mode
    conditions: dict[Label, Condition] = Field(min_length=1, description="name -> what is wrong")

    @model_validator(mode="after")
    def _mode(self) -> Self:
        self.check_mode([self.mode])
        return self


def tune_conditions(settings: ConditionsSettings, loop: Loop) -> dict[str, dict[str, Found]]:
    """Tune without any condition, so that errors under one show the cost of a wrong belief."""

    def tune_on(repetition: Repetition) -> dict[str, Found]:
        return tune_all(settings, settings.mode, settings.task.sequence(loop, repetition))

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(ConditionsSettings, tune=tune_conditions, labels=("mse",))
def conditions(settings: ConditionsSettings, loop: Loop) -> Iterator[Row]:
    """Run every method under every condition.

    Metric: mse, the final cumulative squared error; setting = name of the condition, x = its
    position.
    """
    for repetition in loop:
        tuned = loop.tuned[str(repetition.number)]
        pairs = []
        for label, method in settings.methods.items():
            pairs.append((method, tuned[label]["parameters"]))
        true = settings.task.sequence(loop, repetition)
        for position, (name, condition) in enumerate(settings.conditions.items()):
            errors = losses(pairs, condition.apply(true, repetition), 1)[:, 0]
            for label, error in zip(settings.methods, errors, strict=True):
                yield repetition.row("mse", error, setting=name, method=label, x=position)


# Figs. 6 and 7: who gets several labels under a budget


class TraceSettings(Repeated):
    """Settings of the self-tuned strategy under budgets."""

    task: Linear
    tuning_rounds: Rounds = Field(
        description="length of the sequence on which r is tuned (that of Fig. 2)",
    )
    grids: tuning.Grids
    noise: Distinct[Variances]
    budgets: Distinct[Annotated[float, Field(ge=1)]] = Field(
        description="labels per round on average",
    )

    def draw(self, repetition: Repetition, noise: str) -> dict[str, Any]:
        """Draw rows, clean target, labels, and random numbers that decide who gets several labels.

        There are as many labels a round as the largest budget needs.
        """
        n_labels = max(2, math.ceil(max(self.budgets)))
        sequence = self.task.draw(repetition, model=noise, labels=n_labels)
        return {
            "X": sequence.x,
            "y": sequence.y,
            "labels": sequence.labels,
            "uniforms": repetition.rng("uniforms").uniform(size=len(sequence)),
        }

    def shared_r(self, repetition: Repetition) -> float:
        """Tune r on clean labels over the tuning sequence of Fig. 2 (``tuning_rounds`` long)."""
        clean = FilterMethod.model_validate({"method": "ors", "parameters": {"variant": "clean"}})
        task = self.task.model_copy(update={"T": self.tuning_rounds})
        sequence = task.draw(repetition)
        return tuning.best(clean, ["r"], self.grids, {}, sequence)["parameters"]["r"]


class BudgetSettings(TraceSettings):
    """Settings of strategies under budgets."""

    strategies: Distinct[Literal["const", "begin", "auto", "self_tuned"]]


def tune_budget(settings: BudgetSettings, loop: Loop) -> dict[str, dict[str, object]]:
    """Tune r for each repetition, and the threshold a for each noise, scaling and budget.

    There is no a where the budget is an integer.
    """
    fractional = [B for B in settings.budgets if round(B) != B]

    def tune_on(repetition: Repetition) -> dict[str, object]:
        r = settings.shared_r(repetition)
        thresholds: dict[str, dict[str, dict[str, float]]] = {}
        for noise in settings.noise:
            sequence = settings.draw(repetition, noise)
            thresholds[noise] = {}
            for label, scaling in SCALING.items():
                by_budget = {}
                for B in fractional:
                    by_budget[f"{B:g}"] = tune_a(**sequence, r=r, B=B, scaling=scaling)
                thresholds[noise][label] = by_budget
        return {"r": r, "a": thresholds}

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(BudgetSettings, tune=tune_budget, labels=(*SCALING, "mse", "labels_per_round"))
def label_budget(settings: BudgetSettings, loop: Loop) -> Iterator[Row]:
    """Run every strategy under every budget (Fig. 6).

    Metrics: mse over all rounds, and labels_per_round, what was really spent. noise = model of
    the variances, setting = scaling or no scaling, method = strategy, x = budget B.
    """
    for noise in settings.noise:
        for repetition in loop:
            sequence = settings.draw(repetition, noise)
            tuned = loop.tuned[str(repetition.number)]
            cases = itertools.product(SCALING.items(), settings.strategies, settings.budgets)
            for (name, scaling), strategy, B in cases:
                options = {
                    "r": tuned["r"],
                    "B": B,
                    "strategy": strategy,
                    "scaling": scaling,
                    "a": tuned["a"][noise][name].get(f"{B:g}", 1.0),
                }
                result = run_budget(**sequence, **options)
                metrics = {"mse": result.loss.mean(), "labels_per_round": result.used.mean()}
                columns = {"noise": noise, "setting": name, "method": strategy, "x": B}
                yield from repetition.rows(metrics, **columns)


def tune_trace(settings: TraceSettings, loop: Loop) -> dict[str, dict[str, float]]:
    """Tune r for each repetition, with the shared value of Fig. 2."""

    def tune_on(repetition: Repetition) -> dict[str, float]:
        return {"r": settings.shared_r(repetition)}

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(TraceSettings, tune=tune_trace, labels=("B=*", "self_tuned", "labels_per_round", "a"))
def budget_trace(settings: TraceSettings, loop: Loop) -> Iterator[Row]:
    """Trace the self-tuned strategy under every budget (Fig. 7).

    Metrics: labels_per_round so far and the threshold a, after every 100 rounds. noise = model of
    the variances, setting = "B=1.5" and so on, x = rounds seen.
    """
    for noise in settings.noise:
        for repetition in loop:
            sequence = settings.draw(repetition, noise)
            r = loop.tuned[str(repetition.number)]["r"]
            for B in settings.budgets:
                options = {"r": r, "B": B, "strategy": "self_tuned", "scaling": True}
                result = run_budget(**sequence, **options)
                columns = {"noise": noise, "setting": f"B={B:g}", "method": "self_tuned"}
                labelled = repetition.with_columns(**columns)
                rounds = np.arange(PERIOD, settings.task.T + 1, PERIOD)
                spent = np.cumsum(result.used)[rounds - 1] / rounds
                yield from labelled.curve("labels_per_round", zip(rounds, spent, strict=True))
                thresholds = result.a[: len(rounds)]
                yield from labelled.curve("a", zip(rounds, thresholds, strict=True))
