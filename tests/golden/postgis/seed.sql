CREATE EXTENSION postgis;
CREATE EXTENSION postgis_raster;
CREATE TABLE town (id int PRIMARY KEY, name text NOT NULL, area geometry(Polygon, 4326), center geography(Point, 4326));
INSERT INTO town VALUES
  (1, 'West', ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0))', 4326), 'POINT(2 2)'),
  (2, 'East', ST_GeomFromText('POLYGON((4 0,8 0,8 4,4 4,4 0))', 4326), 'POINT(6 2)'),
  (3, 'Lost', NULL, NULL);
CREATE TABLE tower (id int PRIMARY KEY, top geometry(PointZ, 4326));
INSERT INTO tower VALUES (1, 'SRID=4326;POINT Z (0 0 0)'), (2, 'SRID=4326;POINT Z (0 0 10)');
CREATE TABLE sheet (id int PRIMARY KEY, image raster);
INSERT INTO sheet VALUES
  (1, ST_AddBand(ST_MakeEmptyRaster(2, 2, 0, 2, 1, -1, 0, 0, 4326), '8BUI'::text, 1, 0)),
  (2, ST_AddBand(ST_MakeEmptyRaster(2, 2, 6, 2, 1, -1, 0, 0, 4326), '8BUI'::text, 1, 0)),
  (3, NULL);
