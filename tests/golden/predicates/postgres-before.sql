CREATE TABLE station (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE reading (
  id integer PRIMARY KEY,
  station_id integer NOT NULL REFERENCES station (id),
  wet boolean,
  level double precision,
  flow double precision
);
