"""GraphQL over Flask: `flask --app flask_app run`."""

from flask import Flask, Response, request
from shop import schema

app = Flask(__name__)


@app.post("/graphql")
def graphql() -> Response:
    asked = request.get_json()
    answer = schema.execute(
        asked["query"],
        asked.get("variables"),
        operation_name=asked.get("operationName"),
        context={"user": request.headers.get("x-user")},
    )
    return Response(answer.body, answer.status, content_type="application/graphql-response+json")
