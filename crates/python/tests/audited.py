"""The apps that are audited."""

import weir
from serving import make_schema

asgi = weir.asgi(make_schema())
wsgi = weir.wsgi(make_schema())
