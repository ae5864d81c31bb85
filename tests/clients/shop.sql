-- What the clients' tests are about. @ID@ stands for a key that the database counts: its words differ.
CREATE TABLE artist (
  id @ID@,
  name TEXT NOT NULL
);
CREATE TABLE album (
  id @ID@,
  title TEXT NOT NULL,
  year INTEGER NOT NULL,
  artist_id INTEGER NOT NULL REFERENCES artist (id)
);
INSERT INTO artist (name) VALUES ('Ada'), ('Bob'), ('Cyd');
INSERT INTO album (title, year, artist_id) VALUES
  ('Alpha', 1999, 1), ('Beta', 2001, 1), ('Gamma', 2001, 2), ('Delta', 2010, 2), ('Epsilon', 2015, 3), ('Zeta', 1987, 3),
  ('Eta', 2020, 1);
