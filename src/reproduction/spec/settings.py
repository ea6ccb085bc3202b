"""Settings of protocols as types, parsed once before the first job.

A protocol's model derives from `Settings`, those of its methods from `Method`. Keys that a model
does not declare are errors. The classes of library methods are imported when settings are
validated; a user's own ``package.module:Class`` is imported only by `Settings.check_custom`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import pydantic
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import CoreSchema, core_schema

from noisylabels import METHODS
from noisylabels.noise import flip_models
from reproduction.paths import PACKAGES
from reproduction.spec import noise_kinds
from reproduction.spec.models import Model as Model
from reproduction.spec.models import is_with_code
from reproduction.spec.suggestions import near
from reproduction.spec.user_modules import import_module

if TYPE_CHECKING:
    from reproduction.spec.class_check import check_keywords as check_keywords

T = TypeVar("T")


def __getattr__(name: str) -> Any:
    """Give the check of keyword arguments, which only checks of settings need and no job."""
    if name == "check_keywords":
        from reproduction.spec.class_check import check_keywords

        return check_keywords
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def among(place: str, names: Iterable[object], known: Iterable[object]) -> None:
    """Refuse the first of ``names`` that is not among the ``known`` ones."""
    words = [str(word) for word in known]
    for name in map(str, names):
        if name not in words:
            raise ValueError(f"{place}: {name!r} is unknown here{near(name, words)}")


def _distinct(values: list[T]) -> list[T]:
    repeated = [value for number, value in enumerate(values) if value in values[:number]]
    if repeated:
        raise ValueError(f"{repeated[0]} is listed twice; keep one")
    return values


def _plain(label: str) -> str:
    if not label or label != label.strip() or set(label) & set(',"\r\n'):
        raise ValueError(f"{label!r} is empty or has a comma, a quote or a space at an end")
    return label


Some = Annotated[list[T], Field(min_length=1)]
"""A list with at least one entry."""
Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_distinct)]
"""A list with at least one entry and no repetition."""
Label = Annotated[str, AfterValidator(_plain)]
"""A name that can be written to a result table."""
Repetitions = Annotated[int, Field(ge=1, le=1_000_000)]
Folds = Annotated[int, Field(ge=2, description="of the cross-validation")]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
Grid = Annotated[dict[str, Some[int | float | bool | str]], Field(min_length=1)]
"""Values of several parameters; every combination is tried."""
Exponents = Annotated[Distinct[float], Field(description="exponents of 2")]


@dataclass(frozen=True)
class Noise:
    """Flips of labels, parsed from a text in settings such as ``independent 0.3``.

    Attributes
    ----------
    label : str
        As written: the word in tables and in names of streams; of a paper's own kind without the
        module, ``ring 0.3`` for ``code:ring 0.3``.
    model : str
        Key of `noise_kinds.KINDS`, or ``paper.module:function``.
    parameters : mapping
        Numbers of the model, by their names.
    """

    label: str
    model: str
    parameters: Mapping[str, float] = field(hash=False, compare=False)

    def __str__(self) -> str:
        return self.label

    @classmethod
    def parse(cls, label: object) -> Self:
        """Parse a label.

        Raises
        ------
        ValueError
            If the model is unknown, or no labels can be flipped with these numbers.
        """
        if isinstance(label, cls):
            return label
        if not isinstance(label, str):
            raise ValueError(f"{label!r}: a label such as `independent 0.3` is expected")
        if reason := _impossible(label):
            raise ValueError(reason)
        model, parameters = noise_kinds.parse(label)
        return cls(label.rpartition(":")[2], model, parameters)

    @property
    def custom(self) -> bool:
        """Whether the noise is a function of a paper."""
        return ":" in self.model

    def observe(
        self, clean: NDArray[Any], rng: np.random.Generator, target: noise_kinds.Target
    ) -> NDArray[Any]:
        """Draw observed targets, see `noise_kinds.observe`."""
        parameters = dict(self.parameters)
        return noise_kinds.observe(self.label, self.model, parameters, clean, rng, target)

    def corrupt(
        self,
        y: NDArray[np.int8],
        rng: np.random.Generator,
        f: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int8]:
        """Flip labels.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Labels -1 and +1.
        rng : numpy.random.Generator
            Source of the flips.
        f : ndarray of shape (n,), optional
            Decision values, which the model ``far_outliers`` needs.

        Returns
        -------
        ndarray of shape (n,)
            The labels after the flips.
        """
        more = {} if f is None else {"f": f}
        return flip_models.MODELS[self.model](y, rng, **self.parameters, **more)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.to_string_ser_schema(),
        )


def labels(noise: Iterable[Noise]) -> list[str]:
    """List the labels of noise as the file writes them."""
    return [flips.label for flips in noise]


Flips = Annotated[
    Distinct[Noise],
    Field(description="such as `independent 0.2`; of your paper `code:ring 0.3`"),
]
COINS = ("independent", "negative_only", "positive_only")
"""Models that flip each label by a coin of its own."""


def only(*models: str) -> AfterValidator:
    """Annotate `Flips` that must be of some models."""

    def check(flips: list[Noise]) -> list[Noise]:
        for number, noise in enumerate(flips):
            if noise.model not in models and not noise.custom:
                raise ValueError(f"{number}: noise {noise.label!r}: use {' or '.join(models)} here")
        return flips

    return AfterValidator(check)


@cache
def _impossible(label: str) -> str:
    """Say why no labels can be flipped like this, by a trial with ten thousand labels."""
    try:
        if label.split() != label.split(" "):
            return f"noise {label!r}: separate words by one space"
        model, numbers = noise_kinds.parse(label)
        if model not in flip_models.MODELS:
            if model in noise_kinds.KINDS:
                generator = np.random.default_rng(0)
                noise_kinds.observe(label, model, numbers, np.arange(9.0), generator, "real")
            return ""
        if model == "class_conditional" and sum(numbers.values()) > 1:
            total = f"the rates sum to {sum(numbers.values()):g}"
            rule = "above 1 more labels are wrong than right; lower one of them"
            return f"noise {label!r}: {total}; {rule}"
        y = np.tile(np.array([-1, 1], dtype=np.int8), 5000)
        f = np.zeros(len(y)) if flip_models.parse(label)[0] == "far_outliers" else None
        flip_models.corrupt(y, label, np.random.default_rng(0), f)
    except ValueError as error:
        return str(error) if label in str(error) else f"noise {label!r}: {error}"
    return ""


def method_module(name: str) -> str:
    """Name the module of a method, of the library or ``package.module:Class``."""
    full_name = name if ":" in name else f"noisylabels.{METHODS[name]}"
    return full_name.partition(":")[0]


REMOVED_METHODS = {
    "margin_minimiser": "is now robust_sgd.minimiser:MarginMinimiser, of that paper",
    "naive_feature_ogd": "is now noisy_online.naive:NaiveFeatureOGD, of that paper",
    "naive_kernel_ogd": "is now noisy_online.naive:NaiveKernelOGD, of that paper",
    "unnormalized_eg": "was removed; eg and eg_pm hold the sum of the weights",
}
"""Name of a method in version 1 -> what to write in its place."""


def method_class(name: str) -> Any:
    """Find the class of a method.

    Parameters
    ----------
    name : str
        Key of `noisylabels.METHODS`, or ``package.module:Class``.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ValueError
        If there is no such method, module or class; with the nearest names.
    """
    if name in REMOVED_METHODS:
        raise ValueError(f"method: {name!r} {REMOVED_METHODS[name]}")
    where = name if ":" in name else f"noisylabels.{METHODS.get(name, '')}"
    module_name, _, class_name = where.partition(":")
    if not class_name:
        hint = near(name, METHODS, 3)
        raise ValueError(f"method: {name!r} is unknown{hint} (your own: 'package.module:Class')")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the module exists, but something that it imports does not
        missing = f"no module {module_name!r} for {name!r}"
        raise ValueError(f"method: {missing}; is it on PYTHONPATH?") from error
    member = getattr(module, class_name, None)
    if not inspect.isclass(member):
        nearest = near(class_name, dir(module), 3)
        raise ValueError(f"method: module {module_name!r} has no class {class_name!r}{nearest}")
    return member


class Method(Model):
    """A method of the settings, ``label: {method, parameters, ...}``."""

    kind: ClassVar[str] = ""
    """Package of the library that the method comes from; "" for any."""

    method: str = Field(description="a name of `noisylabels.METHODS`, or package.module:Class")
    parameters: dict[str, Any] = Field({}, description="keyword arguments")
    label: str | None = Field(
        None,
        description="name in running text, such as the label of an axis",
    )
    role: Literal["control", "reference"] | None = Field(
        None, description="control: knows more than the others; reference: baseline"
    )
    shown: str | None = Field(
        None,
        description="the only panel or table that shows it; default: all do",
    )
    note: str | None = Field(None, description="a sentence below the tables that show it")

    @property
    def custom(self) -> bool:
        """Whether the class is a user's, ``package.module:Class``."""
        return ":" in self.method

    @property
    def cls(self) -> Any:
        """Import the class when needed; a user's class gets read-only arrays.

        Raises
        ------
        ValueError
            If a user's module or class does not exist.
        """
        found = method_class(self.method)
        if found.__module__.partition(".")[0] in PACKAGES:
            return found  # classes of the project change no argument
        from reproduction.spec.guarded_classes import guard

        return guard(found)

    def build(self, **chosen: Any) -> Any:
        """Build an instance with the fixed parameters and the chosen ones, which win."""
        return self.cls(**(self.parameters | chosen))

    def check(self) -> None:
        """Check what needs the class: its parameters here, and more in subclasses.

        Raises
        ------
        ValueError
            If something is wrong; the message says what is possible.
        """
        from reproduction.spec.class_check import check_keywords

        check_keywords(self.cls, self.parameters)

    def require(self, member: str, user: str, otherwise: str = "") -> None:
        """Check that the class has a member.

        Parameters
        ----------
        member : str
            Key of `class_check.SIGNATURES`.
        user : str
            What needs the member, for the message.
        otherwise : str, default ""
            What to do other than to implement it.

        Raises
        ------
        ValueError
            If it lacks the member.
        """
        from reproduction.spec.class_check import SIGNATURES

        if not hasattr(self.cls, member):
            remedy = f"implement {SIGNATURES[member]}"
            if otherwise:
                remedy += f", or {otherwise}"
            missing = f"{self.cls.__name__} has no {member}, which {user} needs"
            raise ValueError(f"method {self.method}: {missing}; {remedy}")

    @model_validator(mode="after")
    def _known(self, info: ValidationInfo) -> Self:
        if self.custom:
            if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", self.method):
                raise ValueError(f"method: {self.method!r} is not of the form package.module:Class")
            if self.method.startswith("noisylabels.") and is_with_code(info):
                self.check()  # the job imports a user's class
            return self
        self.check_kind(self.kind)
        if is_with_code(info):
            self.check()
        return self

    def check_kind(self, kind: str) -> None:
        """Check that a method of the library is from a package; "" for any.

        Raises
        ------
        ValueError
            If it is from another one, or there is no such method.
        """
        known = sorted(name for name, where in METHODS.items() if where.startswith(f"{kind}."))
        if kind == "":
            known = sorted(METHODS)
        if not self.custom and self.method not in known:
            _ = self.cls  # names the nearest class if no method is called this
            rule = f"is not one of the {kind}: {', '.join(known)}"
            raise ValueError(f"method: {self.method!r} {rule}")


M = TypeVar("M", bound=Method)
Methods = Annotated[dict[Label, M], Field(min_length=1)]
"""Label of a method -> the method."""


class Settings(Model):
    """Base of the settings of every protocol.

    The engine reads four keys, which mean the same in every model that has them: ``datasets``,
    ``repetitions``, ``experiment`` and ``methods``.
    """

    def list_data_sets(self) -> list[str] | None:
        """List the data sets that the settings name; None without such a key."""
        return getattr(self, "datasets", None)

    def count_repetitions(self, otherwise: int = 1) -> int:
        """Count the repetitions of an experiment; without a key for them it runs once."""
        return getattr(self, "repetitions", otherwise)

    def find_experiment(self, artifact: str) -> str:
        """Find the name under which random numbers are drawn; by default that of the artifact."""
        return getattr(self, "experiment", "") or artifact

    def select_methods(self) -> dict[str, Method]:
        """Select the methods that have labels, as a model may call something else ``methods``."""
        methods = getattr(self, "methods", None)
        if not isinstance(methods, dict):
            return {}
        return {label: method for label, method in methods.items() if isinstance(method, Method)}

    def check_data(self, listed: Iterable[str]) -> None:
        """Check the data sets that settings name.

        Parameters
        ----------
        listed : iterable of str
            Ids of the data sets of the artifact.

        Raises
        ------
        ValueError
            If a setting names another data set.
        """

    def settings_of(self, method: str) -> list[str]:
        """List the entries of the column setting in rows of a method; empty if not known."""
        return []

    def list_labels(self) -> list[str]:
        """List labels of rows that are not words of the settings: kinds of noise."""
        kinds = getattr(self, "noise", None)
        listed = kinds if isinstance(kinds, list) else []
        return [kind.label for kind in listed if isinstance(kind, Noise)]

    def check_custom(self) -> None:
        """Import the user's classes that the settings name, and check them like the library's.

        Raises
        ------
        ValueError
            If a class or parameter does not exist, or a class lacks a member.
        """
        for label, method in self.select_methods().items():
            if method.custom:
                try:
                    method.check()
                except ValueError as error:
                    raise ValueError(f"settings.methods.{label}: {error}") from None
        kinds = getattr(self, "noise", None)
        for place, noise in enumerate(kinds if isinstance(kinds, list) else []):
            if isinstance(noise, Noise) and noise.custom:
                try:
                    noise_kinds.find_custom(noise.model, len(noise.parameters))
                except ValueError as error:
                    raise ValueError(f"settings.noise.{place}: {error}") from None


class Selection(Settings):
    """Settings of a figure or table without a protocol: what it draws of other tables."""

    drawn: dict[str, list[str]] = Field(
        {},
        description="key of their settings -> its entries to draw",
    )


class Trials(Settings):
    """Settings of an experiment that is repeated."""

    repetitions: Repetitions


class Repeated(Trials):
    """Settings of a repeated experiment; its name decides its random numbers."""

    experiment: str = Field(
        "", description="name under which random numbers are drawn; default: that of the artifact"
    )


class OnDataSets(Repeated):
    """Settings of an experiment on data sets."""

    datasets: Distinct[str]


class PartSettings(OnDataSets):
    """Settings of an experiment on random parts of data sets."""

    train: Share = Field(description="share of the rows that are for training")


class Drawn(Model):
    """Settings of splits for a data set without official splits."""

    test: Share = Field(description="share of the rows for the test")
    stratified: bool = Field(True, description="the same share of every class")


class SplitSettings(OnDataSets):
    """Settings of an experiment on splits of data sets whose training labels are flipped."""

    repetitions: Repetitions = Field(
        description="the first splits of each data set, at most all it has",
    )
    first_split: pydantic.NonNegativeInt = Field(
        0, description="number of the first split, at most half of a set's"
    )
    splits: Drawn | None = Field(
        None,
        description="how to split the data sets that have no official splits",
    )
    noise: Annotated[Flips, only(*COINS, "symmetric", "uniform", "class_conditional")]

    @model_validator(mode="after")
    def _classifiers(self) -> Self:
        for label, method in self.select_methods().items():
            try:
                method.check_kind("classifiers")
            except ValueError as error:
                raise ValueError(f"methods.{label}.{error}") from None
        return self


class MethodsOnSplits(SplitSettings):
    """Settings of an experiment on splits with any methods."""

    methods: Methods[Method] = Field(description="label -> method")
