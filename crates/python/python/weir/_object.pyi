"""The decorator of dataclasses that are object types, interfaces or input objects, as type checkers see it.

`_types.py` imports it by three names: type checkers know a dataclass by the decorator itself, not by a value that is equal to it.
"""

from typing import Any, Callable, Optional, Type, TypeVar, overload

from typing_extensions import dataclass_transform

_T = TypeVar("_T")

@overload
@dataclass_transform()
def object_type(cls: Type[_T], /) -> Type[_T]: ...
@overload
@dataclass_transform()
def object_type(
    *,
    name: Optional[str] = None,
    description: Optional[str] = None,
    authorize: Optional[Callable[..., Any]] = None,
) -> Callable[[Type[_T]], Type[_T]]: ...
