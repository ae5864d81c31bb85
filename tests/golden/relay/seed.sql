CREATE TABLE harbour (country TEXT NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (country, code));
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT, price INTEGER, country TEXT NOT NULL, code TEXT NOT NULL,
                   FOREIGN KEY (country, code) REFERENCES harbour (country, code));
CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
CREATE TABLE note (boat_id INTEGER REFERENCES boat (id), text TEXT);
INSERT INTO harbour VALUES ('de', 'HH', 'Hamburg'), ('no', 'OSL', 'Oslo');
INSERT INTO boat VALUES
  (1, 'Ada', 'ann', 10, 'de', 'HH'), (2, 'Bel', 'ben', NULL, 'de', 'HH'), (3, 'Cid', 'ann', 30, 'no', 'OSL'),
  (4, 'Dot', NULL, 10, 'no', 'OSL');
INSERT INTO crew VALUES (1, 'Zoe', 1), (2, 'Yan', 1), (3, 'Xia', 3);
INSERT INTO note VALUES (1, 'leaks');
