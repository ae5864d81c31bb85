"""Requests on an event loop: the loop polls the request and runs its coroutines."""

from __future__ import annotations

import asyncio
import decimal
import json
import logging
from typing import Any, AsyncIterator, Awaitable, List, Optional, Set, Tuple

from ._weir import Response, Run

_log = logging.getLogger("weir")


async def drive(run: Run) -> Optional[Response]:
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


async def _gather(coroutines: List[Awaitable[Any]]) -> List[Any]:
    if len(coroutines) == 1:
        try:
            return [await coroutines[0]]
        except Exception as error:
            return [error]
    return await asyncio.gather(*coroutines, return_exceptions=True)


async def _next(iterator: AsyncIterator[Any]) -> Tuple[bool, Any]:
    try:
        return True, await iterator.__anext__()
    except StopAsyncIteration:
        return False, None


def _log_failure(coordinate: str, error: BaseException) -> None:
    _log.error("%s failed", coordinate, exc_info=error)


def _loads(text: str) -> Any:
    return json.loads(text, parse_float=decimal.Decimal)


helpers = {"gather": _gather, "next": _next, "log": _log_failure, "loads": _loads}
