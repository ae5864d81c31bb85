-- A small shop: an enum table, names of its own, integers beyond 32 bits and a relationship without a foreign key.
CREATE TABLE color (value TEXT PRIMARY KEY, comment TEXT);
INSERT INTO color VALUES ('red', 'as a rose'), ('green', NULL);
CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, country TEXT);
INSERT INTO maker VALUES (1, 'Ada', 'UK'), (2, 'Bob', 'US');
CREATE TABLE thing (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  color TEXT REFERENCES color (value),
  maker_id INTEGER REFERENCES maker (id),
  stock INTEGER,
  country TEXT,
  doc JSONB,
  price REAL CHECK (price >= 0)
);
INSERT INTO thing VALUES
  (1, 'lamp', 'red', 1, 5000000000, 'UK', '{"a": 1, "b": ["x"]}', 1.5),
  (2, 'desk', 'green', 1, 2, 'US', '[1, 2]', 2),
  (3, 'pen', NULL, 2, NULL, NULL, NULL, NULL);
