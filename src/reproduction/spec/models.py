"""The base of all models of the configuration: unknown keys and conversions are refused."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationInfo, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from reproduction.spec.suggestions import near


def texts(value: Any) -> Iterator[str]:
    """Yield every key and text in settings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts([*value, *value.values()])
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry)


def _with_lists(schema: Any) -> Any:
    """Let the tuples of a schema accept lists, as YAML has no tuples."""
    parts = schema if isinstance(schema, list) else []
    if isinstance(schema, dict):
        parts = list(schema.values())
        if schema.get("type") == "tuple":
            schema["strict"] = False
    for part in parts:
        _with_lists(part)
    return schema


WITH_CODE = "with_code"
"""Key in the context of a validation that says whether code may be imported."""


def is_with_code(info: ValidationInfo) -> bool:
    """Decide whether a validation may import the named classes, unless `check` forbids it."""
    return info.context is None or bool(info.context.get(WITH_CODE, True))


class Model(BaseModel):
    """Base of everything that is read from YAML: unknown keys and conversions are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _with_lists(handler(source))

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        keys = [field.alias or name for name, field in cls.model_fields.items()]
        for key, value in content.items() if isinstance(content, dict) else ():
            if key not in keys:
                message = f"there is no key {str(key)!r}{near(key, keys)}"
            elif value is None:
                message = f"{key}: is empty; give a value or drop the key"
            else:
                continue
            raise PydanticCustomError("unknown_key", "{message}", {"message": message})
        return content
