CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, owner TEXT, buyer TEXT, price INTEGER, sold_at TEXT,
                   harbour_id INTEGER NOT NULL REFERENCES harbour (id));
CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
CREATE TABLE member (login TEXT PRIMARY KEY);
INSERT INTO harbour VALUES (1, 'Oslo'), (2, 'Rio');
INSERT INTO boat VALUES
  (1, 'Ada', 'ann', 'bob', 10, NULL, 1), (2, 'Bel', 'ben', 'ben', 90, '2024-05-01', 1),
  (3, 'Cid', NULL, NULL, 2000, NULL, 2), (4, 'Dot', 'ann', NULL, 150, NULL, 2);
INSERT INTO crew VALUES (1, 'Zoe', 1), (2, 'ann', 1), (3, 'Yan', 2), (4, 'Xia', 3);
INSERT INTO member VALUES ('ann');
