"""The apps that `served.py` measures, one schema of `compare.py` each: behind uvicorn, `uvicorn apps:weir_app`."""

import ariadne
import strawberry.asgi
import weir
from ariadne.asgi import GraphQL
from compare import COMMENTS, POSTS, RECORDS, SDL, USERS, strawberry_schema, weir_schema


def ariadne_schema():
    query, user, post = ariadne.QueryType(), ariadne.ObjectType("User"), ariadne.ObjectType("Post")
    query.set_field("records", lambda *_: RECORDS)
    query.set_field("users", lambda *_: USERS)
    user.set_field("posts", lambda user, _: POSTS[user.id])
    post.set_field("comments", lambda post, _: COMMENTS[post.id])
    return ariadne.make_executable_schema(SDL, query, user, post)


weir_app = weir.asgi(weir_schema())
strawberry_app = strawberry.asgi.GraphQL(strawberry_schema())
ariadne_app = GraphQL(ariadne_schema())
