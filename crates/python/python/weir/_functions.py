"""What a function takes, decorators and all; loaders."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Generic, Iterator, Optional, Set, TypeVar

from ._weir import Info

_F = TypeVar("_F", bound=Callable[..., Any])
_BY_ANNOTATION = (Info, "weir.Info", "Info")
_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Loader(Generic[_F]):
    """A function that loads values by their keys; see `loader`."""

    def __init__(self, function: _F) -> None:
        self.function = function
        self.name = getattr(function, "__name__", repr(function))

    def __repr__(self) -> str:
        return f"<weir.Loader {self.name}>"


def loader(function: _F) -> Loader[_F]:
    """Makes a loader of a function that takes a list of keys, each once, and gives a list with a value per key, or a mapping by key.

    A request loads a key once. Fields of one level that use the same loader share one call.
    """
    return Loader(function)


def layers(function: Any) -> Iterator[Any]:
    """The function, and what its decorators wrap (`functools.wraps`)."""
    seen: Set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        yield function
        function = getattr(function, "__wrapped__", None)


def is_async(function: Any) -> bool:
    """True if the function, or one that it wraps, is a coroutine function."""
    return any(
        inspect.iscoroutinefunction(layer) or inspect.iscoroutinefunction(getattr(layer, "__call__", None))
        for layer in layers(function)
    )


def _is_info(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in _BY_ANNOTATION


def info_keyword(function: Any) -> Optional[str]:
    """The keyword by which the function takes `info`: a parameter of the class `weir.Info`, or else one that is called `info`."""
    return parameters(function, 0)["info"]  # type: ignore[no-any-return]


def parameters(function: Any, parents: int) -> Dict[str, Any]:
    """The keywords that a call may have, behind the parents.

    The outermost function is called, so it decides. Where it passes keywords on by `**`, what it wraps decides, too.
    """
    names: Set[str] = set()
    info: Optional[str] = None
    takes_any: Optional[bool] = None
    for layer in layers(function):
        own = list(inspect.signature(layer, follow_wrapped=False).parameters.values())
        positional = [it for it in own if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
        behind = positional[parents:] + [it for it in own if it.kind is it.KEYWORD_ONLY]
        keywords = [it for it in behind if it.kind in _KEYWORDS]
        for parameter in keywords:
            if info is None and _is_info(parameter):
                info = parameter.name
        names.update(it.name for it in keywords if not _is_info(it))
        passes_on = any(it.kind is it.VAR_KEYWORD for it in own)
        takes_any = passes_on if takes_any is None else takes_any
        if not passes_on:
            break
    if info is None and "info" in names:
        info = "info"
    return {"names": names, "any": bool(takes_any), "info": info}
