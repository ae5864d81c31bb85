"""GraphQL over Flask, with files and events: `flask --app flask_app run`."""

import weir
from flask import Flask
from shop import schema
from werkzeug.middleware.dispatcher import DispatcherMiddleware

app = Flask(__name__)


def context(request: weir.HttpRequest):
    """What resolvers see as `info.context`."""
    return {"user": request.headers.get("x-user")}


graphql = weir.wsgi(schema, context=context, uploads=True)
app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {"/graphql": graphql})


@app.get("/health")
def health():
    return {"ok": True}
