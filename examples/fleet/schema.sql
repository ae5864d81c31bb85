-- A fleet, in the SQL of SQLite and of PostgreSQL alike.
CREATE TABLE harbour (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE boat (
  number TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  owner TEXT,
  price INTEGER,
  harbour_code TEXT NOT NULL REFERENCES harbour (code)
);
CREATE TABLE crew (
  boat_number TEXT NOT NULL REFERENCES boat (number),
  name TEXT NOT NULL,
  PRIMARY KEY (boat_number, name)
);
INSERT INTO harbour VALUES ('OSL', 'Oslo'), ('RIO', 'Rio');
INSERT INTO boat VALUES
  ('N-1', 'Ada', 'ann', 10, 'OSL'), ('N-2', 'Bel', 'ben', 90, 'OSL'),
  ('N-3', 'Cid', NULL, 2000, 'RIO'), ('N-4', 'Dot', 'ann', 150, 'RIO');
INSERT INTO crew VALUES ('N-1', 'Zoe'), ('N-2', 'Yan'), ('N-3', 'Xia');
