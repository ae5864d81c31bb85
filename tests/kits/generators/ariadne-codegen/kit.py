"""Asks with the clients that ariadne-codegen generated: tables, native types, Relay."""

import asyncio
import sys

from native_client import AddCountryInput, CityRef
from native_client import Client as NativeClient
from relay_client import Client as RelayClient
from relay_client import Genre_insert_input
from tables_client import Artist_insert_input
from tables_client import Client as TablesClient


async def main(tables_url: str, native_url: str, relay_url: str) -> None:
    async with TablesClient(url=tables_url, ws_url=tables_url.replace("http", "ws", 1)) as tables:
        print("tables", (await tables.albums_of(name="AC/DC", limit=1)).model_dump_json())
        artist = Artist_insert_input(ArtistId=9002, Name="ariadne")
        print("tables", (await tables.add_artist(object_=artist)).model_dump_json())
        async for event in tables.watch_artist(id=9002):
            print("tables", event.model_dump_json())
            break
    async with NativeClient(url=native_url) as native:
        country = AddCountryInput(id="ac", name="Ariadne", cities=[CityRef(id="ac1", name="First")])
        print("native", (await native.add_country(input=[country])).model_dump_json())
        print("native", (await native.cities_of(id="ac")).model_dump_json())
    async with RelayClient(url=relay_url) as relay:
        genre = Genre_insert_input(GenreId=902, Name="ariadne")
        print("relay", (await relay.add_genre(object_=genre)).model_dump_json())
        print("relay", (await relay.album_page(first=2)).model_dump_json())


asyncio.run(main(*sys.argv[1:]))
