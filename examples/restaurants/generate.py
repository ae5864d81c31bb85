#!/usr/bin/env python3
"""Seeded generator of the restaurant data set (see README.md in this folder).

One pass over the restaurants, nothing kept in memory but the small tables, so
full scale (4,158,700 dishes) needs a few hundred MB at most.  Same seed, scale
and format give the same bytes: only random.Random.random() is drawn from, which
CPython keeps stable.  Prices go through log() and rounding, so an unusual C library could
differ in a digit.
"""
import argparse
import json
import math
import os
import random
import sys
import time

COUNTRIES, CITIES, CUISINES = 15, 74, 116
RESTAURANTS, DISHES, REST_CUISINE_EDGES = 8422, 4158700, 16984

# Every object has an id that is unique over all types (a "uid").  Its GraphQL
# text form is 0x followed by lower-case hex.
COUNTRY0, CITY0, CUISINE0 = 0x1001, 0x1101, 0x1201
RESTAURANT0, ADDRESS0, DISH0 = 0x10001, 0x20001, 0x100001

COUNTRY_NAMES = """Argentina|Belgium|Chile|Denmark|Egypt|Finland|Georgia|Hungary|
Indonesia|Japan|Kenya|Lebanon|Mexico|Norway|Portugal""".replace("\n", "").split("|")
# (currency, typical cost for two), by country
MONEY = [("ARS", 900), ("€", 60), ("CLP", 9000), ("kr", 450), ("EGP", 350),
         ("€", 70), ("GEL", 90), ("Ft", 7000), ("IDR", 90000), ("¥", 4000),
         ("KSh", 1800), ("L£", 40000), ("$", 500), ("kr", 600), ("€", 35)]
CITY_STEM = """Aldo Bari Cala Dero Elva Fina Gora Hala Isto Juna Kiro Lume Mora
Nero Olvi Pira Quel Rosa""".split()
CITY_TAIL = ["burg", "ville", "mar", " Alta", "ton"]
CUISINE_A = """Andean Aegean Alpine Anatolian Baltic Basque Bavarian Berber
Bengali Breton Cajun Catalan Creole Danube Fijian Gascon Hunan Iberian Javanese
Kashmiri Levantine Malabar Nordic Oaxacan Pontic Punjabi Roman Sichuan Tuscan
Yucatec""".split()
CUISINE_B = ["", " BBQ", " Cafe", " Deli"]
REST_A = """Amber Blue Copper Crooked Early Eastern Giant Golden Green Grand
Happy Hidden Humble Ivory Jolly Lazy Little Lucky Merry Old Open Orange Paper
Proud Quiet Red Royal Salty Second Silver Simple Slow Stone Sunny Tall Velvet
White Wild Windy Young""".split()
REST_B = """Anchor Apple Barrel Bell Boat Bridge Candle Cart Cedar Clove Corner
Crane Dragon Fennel Fig Fork Fox Garden Harbor Hearth Kettle Ladle Lantern Lemon
Market Mill Olive Oven Pepper Pier Plate River Saffron Spoon Table Tavern Thyme
Tiger Wagon Willow""".split()
REST_C = ["", " & Co", " Bistro", " Diner", " Kitchen", " House", " Café", " Bar",
          "'s Place", " Canteen", " Express"]
DISH_A = """Baked Black Brown Char Clay Cold Crisp Curry Dry Fire Fresh Fried
Garlic Ginger Glazed Green Grilled Herb Honey Hot Iced Lemon Lime Mango Maple
Mild Mint Miso Nut Onion Pan Plain Plum Raw Red Roast Royal Salt Smoked Soft
Sour Spiced Sweet Tandoor Thin Warm White Wild Wok Yellow""".split()
DISH_B = """Bao Bean Beet Bowl Bread Broth Bun Cake Carp Clam Corn Crab Crêpe
Dal Dosa Duck Eel Egg Fish Flan Gyoza Ham Hash Kebab Kale Laksa Lamb Leek Momo
Mousse Naan Okra Paella Pasta Pea Pho Pie Pilaf Pizza Plov Pork Prawn Ramen Rice
Roll Roti Salad Samosa Sole Soup Squid Steak Stew Taco Tart Tofu Trout Tuna Veal
Wrap""".split()
DISH_C = [""] * 14 + [" XL", ' 12"', " & Dip", " Mini", " Combo", " Special"]
PHRASES = """made to order every day|with seasonal vegetables|served with steamed rice|
slow cooked over a wood fire|a house favourite since the opening|tossed in brown butter|
finished with toasted seeds|with a side of pickled radish|rich and slightly smoky|
light enough for a late lunch|with chilli oil on request|best shared between two|
from a family recipe|with lime and fresh herbs|in a thin crispy crust|
contains nuts and sesame""".replace("\n", "").split("|")
STREETS = ["Mill Lane", "Quay Road", "Station Street", "Upper Terrace",
           "Market Square", "Garden Row", "Old Harbour Way", "North Avenue"]
AREAS = ["Riverside", "Old Town", "Docklands", "University", "Hillside",
         "Station Quarter", "Lakeside", "Westgate", "Central Park"]


def tables(seed, scale):
    """The small tables and the restaurants; dishes come from dishes_of()."""
    rnd = random.Random(seed).random
    n_rest = max(1, round(RESTAURANTS * scale))
    n_dish = max(n_rest, round(DISHES * scale))
    n_edge = max(n_rest, round(REST_CUISINE_EDGES * scale))

    countries = [(COUNTRY0 + i, str(3 * i + 1), COUNTRY_NAMES[i]) for i in range(COUNTRIES)]
    cities = []
    for i in range(CITIES):
        name = CITY_STEM[i % len(CITY_STEM)] + CITY_TAIL[i // len(CITY_STEM)]
        cities.append((CITY0 + i, str(1000 + 7 * i), name, COUNTRY0 + i % COUNTRIES))
    cuisines = [(CUISINE0 + i, CUISINE_A[i % 30] + CUISINE_B[i // 30]) for i in range(CUISINES)]

    # cuisines per restaurant: 1..6, at least one, n_edge in total
    n_cui = [1] * n_rest
    left = n_edge - n_rest
    while left:
        i = int(rnd() * n_rest)
        if n_cui[i] < 6:
            n_cui[i] += 1
            left -= 1
    # dishes per restaurant: uniform 1..1000, then moved by ones to hit the total
    n_dsh = [1 + int(rnd() * 1000) for _ in range(n_rest)]
    left = n_dish - sum(n_dsh)
    step = 1 if left > 0 else -1
    cap = max(1000, -(-n_dish // n_rest))
    while left:
        i = int(rnd() * n_rest)
        if 1 <= n_dsh[i] + step <= cap:
            n_dsh[i] += step
            left -= step

    restaurants, addresses, edges = [], [], []
    dish0 = DISH0
    for i in range(n_rest):
        city = int(CITIES * rnd() * rnd())          # a few cities are big
        currency, cost = MONEY[city % COUNTRIES]
        name = (REST_A[int(rnd() * len(REST_A))] + " " + REST_B[int(rnd() * len(REST_B))]
                + REST_C[int(rnd() * len(REST_C))])
        if rnd() < 0.22:
            name += " " + cities[city][2]
        pic = ("https://pics.example.org/photos/places/%02x/%08x/%016x_feature_pic.jpg"
               % (i & 0xFF, i * 2654435761 & 0xFFFFFFFF, int(rnd() * (1 << 52))))
        rating = None if rnd() < 0.03 else round(1.8 + 3.1 * rnd() ** 0.6, 1)
        cost = float(max(1, round(cost * (0.3 + 1.9 * rnd()))))
        day, sec = int(rnd() * 365), int(rnd() * 86400)
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1577836800 + 86400 * day + sec))
        mine = []
        while len(mine) < n_cui[i]:
            c = int(CUISINES * rnd() ** 1.5)
            if c not in mine:
                mine.append(c)
        rid, aid = RESTAURANT0 + i, ADDRESS0 + i
        restaurants.append((rid, str(16000000 + 37 * i), name, pic, aid, rating, cost,
                            currency, created, dish0, n_dsh[i], tuple(mine)))
        edges.extend((rid, CUISINE0 + c) for c in mine)
        dish0 += n_dsh[i]
        lat, lon = round(-40 + 100 * rnd(), 6), round(-120 + 260 * rnd(), 6)
        addresses.append((aid, lat, lon,
                          "%d %s" % (1 + int(rnd() * 240), STREETS[int(rnd() * len(STREETS))]),
                          AREAS[int(rnd() * len(AREAS))], CITY0 + city,
                          None if rnd() < 0.1 else 10000 + int(rnd() * 89999), rid))
    return countries, cities, cuisines, restaurants, addresses, edges


def dishes_of(seed, rest, names, descs):
    """(id, name, pic, price, description, isVeg, cuisine, servedBy) of one restaurant."""
    rid, pic, cost, dish0, n, mine = rest[0], rest[3], rest[6], rest[9], rest[10], rest[11]
    rnd = random.Random(seed * 1000003 + rid).random
    log, nn, nd, k, mean = math.log, len(names), len(descs), len(mine), cost / 2
    out = []
    for d in range(dish0, dish0 + n):
        price = round(-mean * log(1.0 - rnd()) + 0.01, 2)
        if price > 999999.0:
            price = 999999.0
        r = int(rnd() * (nn * 64))
        name = names[r >> 6]
        r &= 63
        out.append((d, name, None if r == 5 else pic, price, None if r == 9 else
                    descs[int(rnd() * nd)], r & 1, CUISINE0 + mine[int(rnd() * k)], rid))
    return out


def csv_cell(v):
    if v is None:
        return ""
    s = v if type(v) is str else repr(v)
    if '"' in s or "," in s or "\n" in s:
        return '"' + s.replace('"', '""') + '"'
    return s


COLUMNS = {
    "countries": ["id", "code", "name"],
    "cities": ["id", "code", "name", "country_id"],
    "cuisines": ["id", "name"],
    "restaurants": ["id", "xid", "name", "pic", "addr_id", "rating", "cost_for2", "currency",
                    "created_at"],
    "addresses": ["id", "lat", "long", "address", "locality", "city_id", "zipcode",
                  "restaurant_id"],
    "restaurant_cuisines": ["restaurant_id", "cuisine_id"],
    "dishes": ["id", "name", "pic", "price", "description", "is_veg", "cuisine_id",
               "served_by_id"],
}


def write_csv(out, t, dish_iter):
    small = dict(zip(("countries", "cities", "cuisines", "restaurants", "addresses",
                      "restaurant_cuisines"), t))
    for kind, rows in small.items():
        cols = COLUMNS[kind]
        with open(os.path.join(out, kind + ".csv"), "w", encoding="utf-8", newline="\n") as f:
            f.write(",".join(cols) + "\n")
            f.writelines(",".join(map(csv_cell, r[:len(cols)])) + "\n" for r in rows)
    quoted = {}

    def q(s):
        if s is None:
            return ""
        r = quoted.get(s)
        if r is None:
            r = quoted[s] = csv_cell(s)
        return r
    with open(os.path.join(out, "dishes.csv"), "w", encoding="utf-8", newline="\n",
              buffering=1 << 20) as f:
        f.write(",".join(COLUMNS["dishes"]) + "\n")
        for rows in dish_iter:
            f.write("".join(["%d,%s,%s,%r,%s,%d,%d,%d\n" % (i, q(nm), p or "", pr, de or "", v, c, r)
                             for i, nm, p, pr, de, v, c, r in rows]))


def write_ndjson(out, t, dish_iter):
    small = dict(zip(("countries", "cities", "cuisines", "restaurants", "addresses",
                      "restaurant_cuisines"), t))
    enc = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for kind, rows in small.items():
        cols = COLUMNS[kind]
        with open(os.path.join(out, kind + ".ndjson"), "w", encoding="utf-8", newline="\n") as f:
            f.writelines(enc(dict(zip(cols, r))) + "\n" for r in rows)
    cache = {None: "null"}

    def q(s):
        r = cache.get(s)
        if r is None:
            r = cache[s] = enc(s)
        return r
    with open(os.path.join(out, "dishes.ndjson"), "w", encoding="utf-8", newline="\n",
              buffering=1 << 20) as f:
        for rows in dish_iter:
            f.write("".join([
                '{"id":%d,"name":%s,"pic":%s,"price":%r,"description":%s,"is_veg":%s,'
                '"cuisine_id":%d,"served_by_id":%d}\n'
                % (i, q(nm), q(p), pr, q(de), "true" if v else "false", c, r)
                for i, nm, p, pr, de, v, c, r in rows]))


def write_rdf(out, t, dish_iter):
    """N-Quads for Dgraph's bulk and live loaders, both directions of every inverse pair."""
    countries, cities, cuisines, restaurants, addresses, edges = t

    def s(v):
        return '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"'
    with open(os.path.join(out, "small.rdf"), "w", encoding="utf-8", newline="\n") as f:
        def quad(sub, pred, obj):
            f.write("<%#x> <%s> %s .\n" % (sub, pred, obj))

        def link(sub, pred, obj):
            f.write("<%#x> <%s> <%#x> .\n" % (sub, pred, obj))
        for i, code, name in countries:
            quad(i, "dgraph.type", '"Country"')
            quad(i, "Country.id", s(code))
            quad(i, "Country.name", s(name))
        for i, code, name, country in cities:
            quad(i, "dgraph.type", '"City"')
            quad(i, "City.id", s(code))
            quad(i, "City.name", s(name))
            link(i, "City.country", country)
            link(country, "Country.cities", i)
        for i, name in cuisines:
            quad(i, "dgraph.type", '"Cuisine"')
            quad(i, "Cuisine.name", s(name))
        for i, xid, name, pic, addr, rating, cost, cur, created, _, _, mine in restaurants:
            quad(i, "dgraph.type", '"Restaurant"')
            quad(i, "Restaurant.xid", s(xid))
            quad(i, "Restaurant.name", s(name))
            quad(i, "Restaurant.pic", s(pic))
            link(i, "Restaurant.addr", addr)
            if rating is not None:
                quad(i, "Restaurant.rating", '"%r"' % rating)
            quad(i, "Restaurant.costFor2", '"%r"' % cost)
            quad(i, "Restaurant.currency", s(cur))
            quad(i, "Restaurant.createdAt", s(created))
        for r, c in edges:
            link(r, "Restaurant.cuisines", c)
            link(c, "Cuisine.restaurants", r)
        for i, lat, lon, address, locality, city, zipcode, rest in addresses:
            quad(i, "dgraph.type", '"Location"')
            quad(i, "dgraph.type", '"RestaurantAddress"')
            quad(i, "Location.lat", '"%r"' % lat)
            quad(i, "Location.long", '"%r"' % lon)
            quad(i, "Location.address", s(address))
            quad(i, "Location.locality", s(locality))
            link(i, "Location.city", city)
            link(city, "City.restaurants", i)
            if zipcode is not None:
                quad(i, "Location.zipcode", '"%d"' % zipcode)
            link(i, "RestaurantAddress.restaurant", rest)
    with open(os.path.join(out, "dishes.rdf"), "w", encoding="utf-8", newline="\n",
              buffering=1 << 20) as f:
        for rows in dish_iter:
            buf = []
            for i, nm, p, pr, de, v, c, r in rows:
                u = "<%#x>" % i
                buf.append('%s <dgraph.type> "Dish" .\n%s <Dish.name> %s .\n%s <Dish.price> "%r" .\n'
                           '%s <Dish.isVeg> "%s" .\n%s <Dish.cuisine> <%#x> .\n'
                           '<%#x> <Cuisine.dishes> %s .\n%s <Dish.servedBy> <%#x> .\n'
                           '<%#x> <Restaurant.dishes> %s .\n'
                           % (u, u, s(nm), u, pr, u, "true" if v else "false", u, c, c, u, u, r, r, u))
                if p is not None:
                    buf.append('%s <Dish.pic> "%s" .\n' % (u, p))
                if de is not None:
                    buf.append('%s <Dish.description> "%s" .\n' % (u, de))
            f.write("".join(buf))


def sizes(t, dish_iter):
    """Bytes of the data part of each query's answer, written compactly."""
    _, _, cuisines, restaurants, _, edges = t
    jl = {}

    def js(v):
        n = jl.get(v)
        if n is None:
            n = jl[v] = len(json.dumps(v, ensure_ascii=False).encode())
        return n

    def num(v):
        if v is None:
            return 4
        r = repr(v)
        return len(r) - 2 if r.endswith(".0") else len(r)

    def wrap(name):
        return len('{"data":{"%s":[]}}' % name) - 1          # one comma too many in the sums
    c2 = {i: len('{"id":"%#x","name":},' % i) + js(n) for i, n in cuisines}
    r2 = {r[0]: len('{"name":,"rating":},') + js(r[2]) + num(r[5]) for r in restaurants}
    q = {"00": wrap("queryCuisine") + sum(c2.values()),
         "10": wrap("queryRestaurant") + sum(r2.values())}
    used = len(set(c for _, c in edges))
    q["01"] = (q["00"] + len(',"restaurants":[]') * len(cuisines) - used
               + sum(r2[r] for r, _ in edges))
    q["11"] = wrap("queryRestaurant") + sum(
        len('{"id":"%#x","xid":,"name":,"pic":,"rating":,"costFor2":,"currency":,"createdAt":},' % r[0])
        + js(r[1]) + js(r[2]) + js(r[3]) + num(r[5]) + num(r[6]) + js(r[7]) + js(r[8])
        for r in restaurants)
    d2 = d3 = n = 0
    for rows in dish_iter:
        for _, nm, _, pr, _, _, c, _ in rows:
            d2 += js(nm) + num(pr)
            d3 += c2[c]
        n += len(rows)
    d2 += n * len('{"name":,"price":},')
    d3 += d2 + n * (len(',"cuisine":') - 1)
    q["20"], q["21"] = wrap("queryDish") + d2, wrap("queryDish") + d3
    lists = len(restaurants) * (len(',"dishes":[]') - 1)
    q["12"], q["13"] = q["10"] + lists + d2, q["10"] + lists + d3
    return q


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", help="folder to write to (made if missing)")
    ap.add_argument("--scale", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--format", default="csv", choices=["csv", "ndjson", "rdf"])
    ap.add_argument("--sizes", action="store_true", help="only print the size of each answer")
    a = ap.parse_args()
    t = tables(a.seed, a.scale)
    names = [x + " " + y + z for x in DISH_A for y in DISH_B for z in DISH_C]
    rd = random.Random(a.seed + 7).random
    descs = []
    for _ in range(4096):
        k = 3 + int(rd() * 3)
        descs.append("; ".join(PHRASES[int(rd() * len(PHRASES))] for _ in range(k)).capitalize())
    it = (dishes_of(a.seed, r, names, descs) for r in t[3])
    if a.sizes:
        blog = {"00": 4, "01": 744, "10": 366, "11": 1941, "12": 152 << 10, "13": 332 << 10,
                "20": 152 << 10, "21": 331 << 10}
        for k, v in sorted(sizes(t, it).items()):
            print("%s %12d bytes %10.1f KiB (blog, full scale: %d KiB)" % (k, v, v / 1024, blog[k]))
        return
    if not a.out:
        ap.error("--out is needed")
    os.makedirs(a.out, exist_ok=True)
    {"csv": write_csv, "ndjson": write_ndjson, "rdf": write_rdf}[a.format](a.out, t, it)
    print("countries %d cities %d cuisines %d restaurants %d addresses %d restaurant_cuisines %d "
          "dishes %d" % (len(t[0]), len(t[1]), len(t[2]), len(t[3]), len(t[4]), len(t[5]),
                         sum(r[10] for r in t[3])), file=sys.stderr)


if __name__ == "__main__":
    main()
