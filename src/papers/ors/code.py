"""Online regression with controlled label noise (Moroshko and Crammer 2017): Figs. 2 and 4 to 7, and ours.

Errors are against the clean label. Every repetition has its tuning sequence, "tuning 0", "tuning 1", ...; the
streams x, u, n, v, label1, label2, ... of a repetition are the same for every method.
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
from reproduction.run.tuning import FilterMethod, FilterSettings, Found, losses, tune_all, tuned_apart
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Distinct, Label, Model, NonNegative, Positive, Repeated, among

CHANNEL = np.sinc(np.arange(10) / 2)
"""Impulse response of the equaliser's channel, h_k = sin(pi k/2) / (pi k/2), k = 0..9 (minimum phase)."""
WARM_UP = 40
"""Samples that fill the delay line of the equaliser and are dropped."""
CANONICAL = "canonical"
"""The variant of a data set that is the published one."""
SCALING = {"scaling": True, "no scaling": False}

Rounds = Annotated[int, Field(ge=2, description="rounds")]
Inputs = Annotated[int, Field(ge=1, description="inputs, or taps")]
Variances = Literal["uniform", "increasing", "decreasing", "constant"]


# The labelled sequences


class Synthetic(Model):
    """A task that is drawn."""

    def source(self, loop: Loop) -> Row:
        """Columns dataset and source."""
        return {"dataset": "synthetic", "source": "synthetic"}


class Linear(Synthetic):
    """y_t = u.x_t + n_t with x_t, u ~ N(0, I_d), n_t ~ N(0, process_noise), v_t in [0, M]; u per repetition.

    Source: ORS paper, Section 4, Figs. 2, 6 and 7.
    """

    T: Rounds
    d: Inputs
    M: NonNegative = Field(description="largest variance of the label noise")
    process_noise: NonNegative = Field(description="variance of n_t")

    def draw(self, repetition: Repetition, *, model: str = "uniform", labels: int = 2) -> NoisySequence:
        """The sequence with ``labels`` noisy labels a round, their variances after ``model``."""
        x, u = (
            repetition.rng("x").standard_normal((self.T, self.d)),
            repetition.rng("u").standard_normal(self.d),
        )
        y = x @ u + np.sqrt(self.process_noise) * repetition.rng("n").standard_normal(self.T)
        v = variances(model, self.T, self.M, repetition.rng("v"))
        return NoisySequence(x=x, y=y, labels=_labels(y, v, repetition, labels), v=v)


class Regression(Linear):
    """`Linear` as a task."""

    kind: Literal["regression"]
    variance_model: Variances = "uniform"
    labels: int = Field(2, ge=1, description="labels per round")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """The sequence of a repetition."""
        return self.draw(repetition, model=self.variance_model, labels=self.labels)


class Equalizer(Synthetic):
    """Recover s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n, s ~ N(0, 1).

    h is `CHANNEL`, n ~ N(0, channel_noise); T rounds after a warm-up; v_t ~ U[0, M].
    Source: ORS paper, Section 4, Figs. 3 and 4; decoding delay 0 is our choice (h is minimum phase).
    """

    kind: Literal["equalizer"]
    T: Rounds
    d: Inputs
    M: NonNegative
    channel_noise: NonNegative = Field(description="variance of n(t)")
    delay: int = Field(0, ge=0, description="decoding delay in samples")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """The sequence of a repetition."""
        n = self.T + WARM_UP + self.delay
        s = repetition.rng("x").standard_normal(n)
        x = np.convolve(s, CHANNEL)[:n]
        x += np.sqrt(self.channel_noise) * repetition.rng("n").standard_normal(n)
        rows = Sliding(x, self.d, delay=self.delay).rows(WARM_UP, WARM_UP + self.T)
        y = s[WARM_UP : WARM_UP + self.T].copy()
        v = variances("uniform", self.T, self.M, repetition.rng("v"))
        return NoisySequence(x=rows, y=y, labels=_labels(y, v, repetition, 2), v=v)


class Speech(Model):
    """Undo a room: s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n, hammer noise on the labels.

    s is the data set `speech`, brought to zero mean and unit variance; n ~ N(0, channel_noise). A tuning
    sequence is the first ``tuning_fraction`` of the signal, with other noise.
    Source: ORS paper, Section 4, Fig. 5; standardisation, modelling delay and hammer noise are our choices.
    """

    kind: Literal["speech"]
    d: Inputs
    delay: int = Field(ge=0, description="modelling delay in samples")
    channel_noise: NonNegative
    room: str = Field(description="simulated, or the data set of a recorded response")
    room_taps: int = Field(ge=1)
    tuning_fraction: float = Field(gt=0, le=1, description="first part of the signal used for tuning")
    seconds: Positive | None = Field(None, description="use only the first seconds of the signal")

    def sequence(self, loop: Loop, repetition: Repetition) -> NoisySequence:
        """The sequence of a repetition. Raises ValueError : a silent signal, fewer samples than taps."""
        arrays = loop.data["speech"].arrays
        rate, signal = int(arrays["rate"]), arrays["signal"]
        if self.seconds is not None:
            signal = signal[: round(self.seconds * rate)]
        if not (scale := signal.std()) > 0:
            raise ValueError("speech: the signal is silent (all samples are equal)")
        s = (signal - signal.mean()) / scale
        x = _convolve(s, self._response(loop, rate))
        x += np.sqrt(self.channel_noise) * repetition.rng("n").standard_normal(len(s))
        v = hammer_variances(len(s), rate, repetition.rng("v"))
        labels = _labels(s, v, repetition, 2)
        n = round((self.tuning_fraction if isinstance(repetition.number, str) else 1.0) * len(s))
        return NoisySequence(x=Sliding(x, self.d, delay=self.delay, n=n), y=s[:n], labels=labels[:n], v=v[:n])

    def _response(self, loop: Loop, rate: int) -> Floats:
        """The response of the room, ``room_taps`` long, unit norm."""
        from reproduction.data.loaders import audio

        if self.room == "simulated":
            return audio.simulated(taps=self.room_taps, rate=rate)
        recorded = loop.data[self.room].arrays
        return audio.recorded(recorded["signal"], int(recorded["rate"]), taps=self.room_taps, to_rate=rate)

    def source(self, loop: Loop) -> Row:
        """Columns dataset and source: what is not canonical, the speech or the recorded room, shows."""
        used = ["speech"] + [self.room] * (self.room != "simulated")
        variants = dict.fromkeys(loop.data[name].variant for name in used)
        source = " + ".join(v for v in variants if v != CANONICAL) or CANONICAL
        return {"dataset": "speech", "source": source}


def _labels(y: Floats, v: Floats, repetition: Repetition, count: int) -> Floats:
    return noisy_labels(y, v, [repetition.rng(f"label{k}") for k in range(1, count + 1)])


def _convolve(s: Floats, h: Floats) -> Floats:
    from scipy import fft  # scipy.signal gives the same bits, but takes half a second to import

    n = fft.next_fast_len(len(s) + len(h) - 1, real=True)
    return np.asarray(fft.irfft(fft.rfft(s, n) * fft.rfft(h, n), n)[: len(s)])


# Figs. 2, 4 and 5: learning curves


class CurvesSettings(FilterSettings):
    """Learning curves of filters on several tasks."""

    windows: int = Field(ge=1, description="points per curve")
    modes: Distinct[tuning.Mode]
    tasks: dict[Label, Annotated[Regression | Equalizer | Speech, Field(discriminator="kind")]] = Field(
        min_length=1
    )

    @model_validator(mode="after")
    def _mode(self) -> Self:
        self.check_mode(self.modes)
        return self

    def check_data(self, listed: Iterable[str]) -> None:
        """See `Settings.check_data`; speech and recorded rooms are data sets."""
        for name, task in self.tasks.items():
            if isinstance(task, Speech):
                among(f"tasks.{name}.kind", ["speech"], listed)
                among(f"tasks.{name}.room", {task.room} - {"simulated"}, listed)


def tune_curves(settings: CurvesSettings, loop: Loop) -> dict[str, dict[str, dict[str, dict[str, Found]]]]:
    """Tuned parameters, ``{repetition: {task: {mode: {method: Found}}}}``."""

    def tune_on(repetition: Repetition) -> dict[str, dict[str, dict[str, Found]]]:
        drawn = {label: task.sequence(loop, repetition) for label, task in settings.tasks.items()}
        return {label: {m: tune_all(settings, m, s) for m in settings.modes} for label, s in drawn.items()}

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(CurvesSettings, tune=tune_curves, labels=("mse", "mse_window", "mse_tail"))
def filter_curves(settings: CurvesSettings, loop: Loop) -> Iterator[Row]:
    """mse_t = (1/t) sum_{s<=t} (yhat_s - y_s)^2, mse_window and mse_tail of every task, mode and method.

    mse_window is the mean over the rounds since the previous point, both at the ends of `windows` equal
    windows; mse_tail the mean over the last fifth of them. noise = task, setting = mode, x = rounds seen.
    """
    methods = settings.methods
    labels = [(mode, method) for mode in settings.modes for method in methods]
    for name, task in settings.tasks.items():
        for repetition in loop:
            chosen = loop.tuned[str(repetition.number)][name]
            pairs = [(methods[m], chosen[mode][m]["parameters"]) for mode, m in labels]
            noisy = task.sequence(loop, repetition)
            per_window = losses(pairs, noisy, settings.windows)
            rounds = np.append(window_starts(len(noisy), settings.windows)[1:], len(noisy))
            lengths, last = np.diff(rounds, prepend=0), -max(1, len(rounds) // 5)
            for (mode, method), window in zip(labels, per_window, strict=True):
                here = repetition.with_columns(noise=name, setting=mode, method=method, **task.source(loop))
                tail = np.average(window[last:], weights=lengths[last:])
                yield here.row("mse_tail", tail, x=float(rounds[-1]))
                cumulative = np.cumsum(window * lengths) / rounds
                yield from here.curve("mse", zip(rounds, cumulative, strict=True))
                yield from here.curve("mse_window", zip(rounds, window, strict=True))


# Ours, after Section 6: what the filters know of the noise is wrong


class Condition(Model):
    """What is wrong; ``{}`` is the noise for which the filters were tuned."""

    factor: NonNegative | None = Field(None, description="given variance = factor x true variance")
    lognormal: NonNegative | None = Field(None, description="standard deviation of log(given/true variance)")
    constant: NonNegative | None = Field(None, description="given variance of every label")
    labels: str | None = Field(None, description="other corruption: a key of noise.additive.OTHER_LABELS")

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if len(self.model_fields_set) > 1:
            raise ValueError(f"{' and '.join(sorted(self.model_fields_set))}: a condition changes one thing")
        among("labels", [self.labels] * (self.labels is not None), OTHER_LABELS)
        return self

    def apply(self, true: NoisySequence, repetition: Repetition) -> NoisySequence:
        """The sequence as the filter gets it."""
        if self.labels is not None:
            columns = [OTHER_LABELS[self.labels](true.y, repetition.rng(f"label{k}")) for k in (1, 2)]
            labels = np.column_stack([labels for labels, _ in columns])
            return dataclasses.replace(true, labels=labels, v=columns[0][1])
        v = true.v * (1.0 if self.factor is None else self.factor)
        if self.lognormal is not None:
            v = v * np.exp(self.lognormal * repetition.rng("v_error").standard_normal(len(v)))
        if self.constant is not None:
            v = np.full(len(v), self.constant)
        return dataclasses.replace(true, v=v)


class ConditionsSettings(FilterSettings):
    """Filters under conditions other than those for which they were tuned."""

    task: Regression
    mode: tuning.Mode
    conditions: dict[Label, Condition] = Field(min_length=1, description="name -> what is wrong")

    @model_validator(mode="after")
    def _mode(self) -> Self:
        self.check_mode([self.mode])
        return self


def tune_conditions(settings: ConditionsSettings, loop: Loop) -> dict[str, dict[str, Found]]:
    """Tuned without any condition: the error of a condition is what a wrong belief costs."""

    def tune_on(repetition: Repetition) -> dict[str, Found]:
        return tune_all(settings, settings.mode, settings.task.sequence(loop, repetition))

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(ConditionsSettings, tune=tune_conditions, labels=("mse",))
def conditions(settings: ConditionsSettings, loop: Loop) -> Iterator[Row]:
    """mse, the final cumulative squared error; setting = name of the condition, x = its position."""
    for repetition in loop:
        chosen = loop.tuned[str(repetition.number)]
        pairs = [(method, chosen[label]["parameters"]) for label, method in settings.methods.items()]
        true = settings.task.sequence(loop, repetition)
        for position, (name, condition) in enumerate(settings.conditions.items()):
            errors = losses(pairs, condition.apply(true, repetition), 1)[:, 0]
            for label, error in zip(settings.methods, errors, strict=True):
                yield repetition.row("mse", error, setting=name, method=label, x=position)


# Figs. 6 and 7: who gets several labels under a budget


class TraceSettings(Repeated):
    """The self-tuned strategy under budgets."""

    task: Linear
    tuning_rounds: Rounds = Field(description="length of the sequence on which r is tuned (that of Fig. 2)")
    grids: tuning.Grids
    noise: Distinct[Variances]
    budgets: Distinct[Annotated[float, Field(ge=1)]] = Field(description="labels per round on average")

    def draw(self, repetition: Repetition, noise: str) -> dict[str, Any]:
        """Rows X, clean target y, labels, and the uniforms (T,) that decide who gets several of them.

        There are as many labels a round as the largest budget needs.
        """
        s = self.task.draw(repetition, model=noise, labels=max(2, math.ceil(max(self.budgets))))
        return {
            "X": s.x,
            "y": s.y,
            "labels": s.labels,
            "uniforms": repetition.rng("uniforms").uniform(size=len(s)),
        }

    def shared_r(self, repetition: Repetition) -> float:
        """r tuned on clean labels over the tuning sequence of Fig. 2 (``tuning_rounds`` long)."""
        clean = FilterMethod.model_validate({"method": "ors", "parameters": {"variant": "clean"}})
        sequence = self.task.model_copy(update={"T": self.tuning_rounds}).draw(repetition)
        return tuning.best(clean, ["r"], self.grids, {}, sequence)["parameters"]["r"]


class BudgetSettings(TraceSettings):
    """Strategies under budgets."""

    strategies: Distinct[Literal["const", "begin", "auto", "self_tuned"]]


def tune_budget(settings: BudgetSettings, loop: Loop) -> dict[str, dict[str, object]]:
    """``{repetition: {r, a: {noise: {scaling: {budget: a}}}}}``; no a where the budget is an integer."""

    fractional = [B for B in settings.budgets if round(B) != B]

    def tune_on(repetition: Repetition) -> dict[str, object]:
        r, found = settings.shared_r(repetition), {}
        for noise in settings.noise:
            given = settings.draw(repetition, noise)
            found[noise] = {
                label: {f"{B:g}": tune_a(**given, r=r, B=B, scaling=scaling) for B in fractional}
                for label, scaling in SCALING.items()
            }
        return {"r": r, "a": found}

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(BudgetSettings, tune=tune_budget, labels=(*SCALING, "mse", "labels_per_round"))
def label_budget(settings: BudgetSettings, loop: Loop) -> Iterator[Row]:
    """Fig. 6: mse over all rounds, and labels_per_round, what was really spent.

    noise = model of the variances, setting = scaling or no scaling, method = strategy, x = budget B.
    """
    for noise in settings.noise:
        for repetition in loop:
            given, chosen = settings.draw(repetition, noise), loop.tuned[str(repetition.number)]
            cases = itertools.product(SCALING.items(), settings.strategies, settings.budgets)
            for (name, scaling), strategy, B in cases:
                a = chosen["a"][noise][name].get(f"{B:g}", 1.0)
                result = run_budget(**given, r=chosen["r"], B=B, strategy=strategy, scaling=scaling, a=a)
                found = {"mse": result.loss.mean(), "labels_per_round": result.used.mean()}
                yield from repetition.rows(found, noise=noise, setting=name, method=strategy, x=B)


def tune_trace(settings: TraceSettings, loop: Loop) -> dict[str, dict[str, float]]:
    """``{repetition: {r}}``: the shared value of Fig. 2."""
    return tuned_apart(loop, settings.repetitions, lambda repetition: {"r": settings.shared_r(repetition)})


@protocol(TraceSettings, tune=tune_trace, labels=("B=*", "self_tuned", "labels_per_round", "a"))
def budget_trace(settings: TraceSettings, loop: Loop) -> Iterator[Row]:
    """Fig. 7: after every 100 rounds, labels_per_round so far and the threshold a of the self-tuned strategy.

    noise = model of the variances, setting = "B=1.5" and so on, x = rounds seen.
    """
    for noise in settings.noise:
        for repetition in loop:
            given, r = settings.draw(repetition, noise), loop.tuned[str(repetition.number)]["r"]
            for B in settings.budgets:
                result = run_budget(**given, r=r, B=B, strategy="self_tuned", scaling=True)
                here = repetition.with_columns(noise=noise, setting=f"B={B:g}", method="self_tuned")
                rounds = np.arange(PERIOD, settings.task.T + 1, PERIOD)
                spent = np.cumsum(result.used)[rounds - 1] / rounds
                yield from here.curve("labels_per_round", zip(rounds, spent, strict=True))
                yield from here.curve("a", zip(rounds, result.a[: len(rounds)], strict=True))
