"""The docstrings of the library: their form, and the examples in them."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import noisylabels

numpydoc_validate = pytest.importorskip("numpydoc.validate")

WALKED = pkgutil.walk_packages(noisylabels.__path__, "noisylabels.")
MODULES = sorted(
    module.name
    for module in WALKED
    if not module.ispkg and not module.name.endswith("__main__")  # importing it runs the command
)
SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "Examples",
    "See Also",
    "Notes",
    "References",
)
CODES = {
    "GL03",  # two blank lines in a row
    "GL06",  # unknown section
    "GL08",  # no docstring
    "SS02",  # the first sentence begins with a capital
    "SS03",  # and ends with a full stop
    "SS06",  # and fits on one line
    "PR01",  # a parameter is not described
    "PR02",  # a description of no parameter
    "PR03",  # another order than in the signature
    "PR04",  # a parameter without its type
    "PR07",  # a parameter without its meaning
    "RT01",  # no section on what is returned
    "RT03",  # and nothing said about it
}
FORMULA = re.compile(r"[=≤≥∑^\\]|\b[a-zA-Z]_[a-z]\b")
EXAMPLE_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def unwrapped(value):
    """The Python function of a compiled kernel; anything else as it is."""
    return getattr(value, "py_func", value)


def is_record(value):
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def public_objects(module):
    """Yield (name, object) of what the module defines for others, with members of classes."""
    for name, value in vars(module).items():
        documented = unwrapped(value)
        is_defined_here = getattr(documented, "__module__", None) == module.__name__
        is_object = inspect.isfunction(documented) or inspect.isclass(documented)
        if name.startswith("_") or not is_object or not is_defined_here:
            continue
        yield name, documented
        if inspect.isclass(documented) and not is_record(documented):
            yield from public_members(name, documented)


def public_members(class_name, documented_class):
    for name, value in vars(documented_class).items():
        is_member = inspect.isfunction(value) or isinstance(value, property | classmethod)
        if is_member and not name.startswith("_"):
            yield f"{class_name}.{name}", getattr(documented_class, name)


def problems(name, value, is_compiled):
    """List what is missing in the docstring of a public object."""
    document = numpydoc_validate.get_doc_object(value)
    described = document["Parameters"] + document["Attributes"]
    missing = []
    for code, message in numpydoc_validate.validate(document)["errors"]:
        # The fields of a record may be called attributes.
        if code in CODES and not (is_record(value) and code.startswith("PR")):
            missing.append(f"{code} {message}")
    if is_record(value) and [field.name for field in described] != list(value._fields):
        missing.append("PR01 the fields of a record are described in their order")
    first_sentence = " ".join(document["Summary"])
    if FORMULA.search(first_sentence.replace("``", "")):
        missing.append(f"the first sentence holds a formula: {first_sentence}")
    needs_example = "." not in name and not is_compiled and not is_record(value)
    if needs_example and ">>>" not in inspect.getdoc(value):
        missing.append("EX01 no example")
    titles = re.findall(r"^(\w[\w ]+)\n-{3,}$", inspect.getdoc(value) or "", re.MULTILINE)
    if titles != [title for title in SECTIONS if title in titles]:
        missing.append(f"sections in another order than {', '.join(SECTIONS)}: {titles}")
    return missing


@pytest.mark.parametrize("name", MODULES)
def test_every_public_object_of_a_module_has_a_complete_docstring(name):
    module = importlib.import_module(name)
    problems_of_members = {}
    for member, value in public_objects(module):
        is_compiled = hasattr(getattr(module, member, None), "py_func")
        if faults := problems(member, value, is_compiled):
            problems_of_members[member] = faults
    assert problems_of_members == {}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_run(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=EXAMPLE_FLAGS)
    for member, value in public_objects(module):
        for example in finder.find(value, f"{name}.{member}", module=module):
            runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


def test_every_public_name_of_the_library_is_in_numpydoc_form():
    for name in noisylabels.__all__:
        described = inspect.getdoc(getattr(noisylabels, name))
        assert "\nParameters\n----------\n" in described, name
        assert ">>>" in described, name
