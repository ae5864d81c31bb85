CREATE EXTENSION postgis;
CREATE TABLE town (id int PRIMARY KEY, name text NOT NULL, area geometry(Polygon, 4326), center geography(Point, 4326));
INSERT INTO town VALUES
  (1, 'West', ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0))', 4326), 'POINT(2 2)'),
  (2, 'East', ST_GeomFromText('POLYGON((4 0,8 0,8 4,4 4,4 0))', 4326), 'POINT(6 2)'),
  (3, 'Lost', NULL, NULL);
