-- A shelter; the other database has a table `pet` too.
CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, facts JSONB);
INSERT INTO pet VALUES (1, 'Ada', 3, '{"fur": "red"}'), (2, 'Bob', NULL, NULL), (3, 'Cyd', 7, '{"fur": "black"}');
CREATE TABLE keeper (id INTEGER PRIMARY KEY, name TEXT NOT NULL, pet INTEGER REFERENCES pet (id));
INSERT INTO keeper VALUES (1, 'Kim', 3), (2, 'Lou', 3);
