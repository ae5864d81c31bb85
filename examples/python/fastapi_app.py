"""GraphQL over FastAPI: `uvicorn fastapi_app:app`."""

from fastapi import FastAPI, Request, Response
from shop import schema

app = FastAPI()


@app.post("/graphql")
async def graphql(request: Request) -> Response:
    asked = await request.json()
    answer = await schema.execute_async(
        asked["query"],
        asked.get("variables"),
        operation_name=asked.get("operationName"),
        context={"user": request.headers.get("x-user")},
    )
    return Response(answer.body, answer.status, media_type="application/graphql-response+json")
