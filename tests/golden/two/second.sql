-- A shop; its table `pet` has other columns than the shelter's.
CREATE TABLE kind (value TEXT PRIMARY KEY);
INSERT INTO kind VALUES ('cat'), ('dog');
CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price NUMERIC, kind TEXT NOT NULL REFERENCES kind (value), facts JSONB);
INSERT INTO pet VALUES (1, 'Max', 12.50, 'dog', NULL), (2, 'Nan', 8.00, 'cat', '{"fur": "red"}');
