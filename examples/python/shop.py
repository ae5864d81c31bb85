"""The schema of both examples: reviews are fetched once for all products, their authors by a loader, and a cost is for staff."""

import asyncio

import weir

SDL = """
scalar Upload
type Query { products(first: Int = 10): [Product!]! }
type Mutation { review(product: ID!, stars: Int!, photo: Upload): Review! }
type Subscription { stars: Int! }
type Product { id: ID! name: String! cost: Int reviews: [Review!]! }
type Review { stars: Int! text: String author: String }
"""
PRODUCTS = [{"id": 1, "name": "Lamp", "cost": 7}, {"id": 2, "name": "Chair", "cost": 30}]
AUTHORS = {1: "Ada", 2: "Bob"}
REVIEWS = [
    {"product": 1, "stars": 5, "text": "bright", "author_id": 1},
    {"product": 1, "stars": 3, "text": None, "author_id": 2},
    {"product": 2, "stars": 4, "text": "sturdy", "author_id": 1},
]

schema = weir.Schema(SDL, depth_max=10)


@schema.resolve("Query.products")
def products(first):
    return PRODUCTS[:first]


@schema.batch("Product.reviews")
def reviews(products):
    return [[it for it in REVIEWS if it["product"] == product["id"]] for product in products]


@weir.loader
def authors(ids):
    return {id: AUTHORS[id] for id in ids}     # one call for all reviews of a request


@schema.load("Review.author", authors)
def author(review):
    return review["author_id"]


@schema.authorize("Product.cost")
def is_staff(products, info):
    return info.context["user"] == "staff"


@schema.resolve("Mutation.review")
def add_review(info, product, stars, photo=None):
    review = {"product": int(product), "stars": stars, "text": photo and photo.file_name, "author_id": 1}
    REVIEWS.append(review)
    return review


@schema.subscribe_to("Subscription.stars")
async def stars():
    for review in list(REVIEWS):
        await asyncio.sleep(0)
        yield review["stars"]
