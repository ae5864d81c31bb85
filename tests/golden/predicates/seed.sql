-- Stations at a river and what was read there: 1 rises with its flow, 2 falls against it, 3 has one reading, 4 none.
CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE reading (
  id INTEGER PRIMARY KEY,
  station_id INTEGER NOT NULL REFERENCES station (id),
  wet BOOLEAN,
  level DOUBLE PRECISION,
  flow DOUBLE PRECISION
);
INSERT INTO station VALUES (1, 'Aare'), (2, 'Brenta'), (3, 'Cher'), (4, 'Drau');
INSERT INTO reading VALUES
  (1, 1, true, 1.5, 10), (2, 1, true, 2.5, 20), (3, 1, true, 4, 35), (4, 1, true, 4, 35),
  (5, 2, true, 1, 8), (6, 2, false, 2, 4), (7, 2, NULL, 3.25, 0), (8, 2, false, NULL, 5),
  (9, 3, false, 7.5, NULL);
