CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'nobody', bio TEXT);
INSERT INTO author VALUES (1, 'Ada', 'a'), (2, 'Bob', 'b');
