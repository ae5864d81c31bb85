-- A small shop.
CREATE TABLE customer (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE
);
CREATE TABLE product (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  price NUMERIC NOT NULL CHECK (price > 0)
);
CREATE TABLE purchase (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customer,
  product_id INTEGER NOT NULL REFERENCES product,
  quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
  carrier_code TEXT NOT NULL DEFAULT 'bike',
  status TEXT NOT NULL DEFAULT 'open',
  payment_id TEXT
);
INSERT INTO customer (id, name, email) VALUES (1, 'Ada', 'ada@example.test'), (2, 'Bo', 'bo@example.test');
INSERT INTO product (id, name, price) VALUES (1, 'Lamp', 39.5), (2, 'Desk', 240), (3, 'Chair', 95);
INSERT INTO purchase (id, customer_id, product_id, quantity, carrier_code) VALUES (1, 1, 1, 2, 'bike'), (2, 1, 2, 1, 'truck'), (3, 2, 3, 4, 'truck');
