"""GraphQL over FastAPI, with files, events and WebSockets: `uvicorn fastapi_app:app`."""

from contextlib import asynccontextmanager

import weir
from fastapi import FastAPI
from shop import schema
from starlette.routing import Route, WebSocketRoute


@asynccontextmanager
async def lifespan(app):
    schema.build()                             # what is wrong with the schema is told before the first request
    yield


async def context(request: weir.HttpRequest):
    """What resolvers see as `info.context`, for requests and WebSockets."""
    return {"user": request.headers.get("x-user") or request.params.get("user")}


graphql = weir.asgi(schema, context=context, uploads=True)
app = FastAPI(lifespan=lifespan)
app.router.routes += [Route("/graphql", graphql), WebSocketRoute("/graphql", graphql)]


@app.get("/health")
def health():
    return {"ok": True}
