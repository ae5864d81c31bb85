"""Requests on an event loop: the loop polls the request and runs its coroutines."""

from __future__ import annotations

import asyncio
import decimal
import inspect
import json
import logging
from typing import Any, AsyncIterator, Awaitable, Iterable, List, Set, Tuple

from ._weir import Run

_log = logging.getLogger("weir")


async def drive(run: Run) -> Any:
    """Answers `run` on the loop of the caller."""
    loop = asyncio.get_running_loop()
    done, answer = run.poll()
    if done:
        return answer
    woken = asyncio.Event()
    tasks: Set["asyncio.Task[Any]"] = set()
    run.arm(loop.call_soon_threadsafe, woken.set)
    # What happened before the loop could be woken is seen by the next poll.
    woken.set()
    try:
        while not done:
            for coroutine, reply in run.started():
                task = loop.create_task(coroutine)
                tasks.add(task)
                task.add_done_callback(reply)
                task.add_done_callback(tasks.discard)
            await woken.wait()
            woken.clear()
            done, answer = run.poll()
        return answer
    finally:
        run.close()
        # A coroutine that the loop has not seen would complain that nobody awaited it.
        for coroutine, _ in run.started():
            coroutine.close()
        for task in tasks:
            task.cancel()


async def close_all(iterators: Iterable[Any]) -> None:
    """Closes asynchronous iterators of events."""
    for iterator in iterators:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


async def _gather(values: List[Any]) -> List[Any]:
    """The values, awaitable ones awaited at the same time. An exception stands in its place."""
    if len(values) == 1:
        try:
            return [await values[0]]
        except Exception as error:
            return [error]
    waiting = [(place, value) for place, value in enumerate(values) if inspect.isawaitable(value)]
    found = await asyncio.gather(*(value for _, value in waiting), return_exceptions=True)
    for (place, _), value in zip(waiting, found):
        values[place] = value
    return values


def _run_alone(value: Awaitable[Any]) -> Any:
    """Awaits a value on an event loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(value))
    if inspect.iscoroutine(value):
        value.close()
    raise RuntimeError("a resolver is asynchronous: within an event loop, await `execute_async`")


async def _awaited_events(value: Awaitable[Any]) -> AsyncIterator[Any]:
    async for event in _open(await value):
        yield event


async def _plain_events(values: Iterable[Any]) -> AsyncIterator[Any]:
    for event in values:
        yield event


def _open(returned: Any) -> AsyncIterator[Any]:
    """The events of what the function of a subscription returned."""
    if hasattr(returned, "__aiter__"):
        iterator: AsyncIterator[Any] = returned.__aiter__()
        return iterator
    if inspect.isawaitable(returned):
        return _awaited_events(returned)
    if hasattr(returned, "__iter__") and not isinstance(returned, (str, bytes, dict)):
        return _plain_events(returned)
    raise TypeError(f"a subscription is an asynchronous iterator, not {type(returned).__name__}")


async def _next(iterator: AsyncIterator[Any]) -> Tuple[bool, Any]:
    try:
        return True, await iterator.__anext__()
    except StopAsyncIteration:
        return False, None


def _log_failure(coordinate: str, error: BaseException) -> None:
    _log.error("%s failed", coordinate, exc_info=error)


def _loads(text: str) -> Any:
    return json.loads(text, parse_float=decimal.Decimal)


helpers = {
    "gather": _gather,
    "awaited": _awaited,
    "run_alone": _run_alone,
    "open": _open,
    "next": _next,
    "log": _log_failure,
    "loads": _loads,
}
