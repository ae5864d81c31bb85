"""The schema of both examples: products with their reviews, which are fetched once for all products."""

import weir

SDL = """
type Query { products(first: Int = 10): [Product!]! }
type Product { id: ID! name: String! reviews: [Review!]! }
type Review { stars: Int! text: String }
"""
PRODUCTS = [{"id": 1, "name": "Lamp"}, {"id": 2, "name": "Chair"}]
REVIEWS = [(1, 5, "bright"), (1, 3, None), (2, 4, "sturdy")]

schema = weir.Schema(SDL, depth_max=10)


@schema.resolve("Query.products")
def products(first):
    return PRODUCTS[:first]


@schema.batch("Product.reviews")
def reviews(products):
    return [[{"stars": stars, "text": text} for of, stars, text in REVIEWS if of == product["id"]] for product in products]
