CREATE EXTENSION citext;
CREATE EXTENSION ltree;
CREATE EXTENSION hstore;
CREATE EXTENSION btree_gist;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE address AS (street text, number int, tags text[]);
CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);

-- One column per scalar type.
CREATE TABLE scalar (
  id int PRIMARY KEY,
  small smallint,
  large bigint,
  digits numeric,
  scaled numeric(10, 4),
  single real,
  double double precision,
  price money,
  yes boolean,
  words text,
  short varchar(8),
  padded char(5),
  folded citext,
  code uuid,
  day date,
  moment timestamp,
  instant timestamptz,
  clock time,
  clock_there timetz,
  span interval,
  document json,
  binary_document jsonb,
  bytes bytea,
  host inet,
  bits bit varying(8),
  place point,
  path ltree,
  pairs hstore,
  reserved int4range,
  booked tstzrange,
  feeling mood,
  mail email,
  share percent,
  home address
);
COMMENT ON TABLE scalar IS 'a column for each type';
COMMENT ON COLUMN scalar.scaled IS 'four decimals, always';
INSERT INTO scalar VALUES (
  1, -32768, 9223372036854775807, 123456789012345678901234567890.1234567890, 1.5, 0.1, 1e21, 12344.57, true,
  E'quote " back \\ line\n', 'short', 'ab', 'MiXed', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '2004-10-19',
  '2004-10-19 10:23:54.5', '2015-10-17 14:42:43+02', '11:09:23', '15:22:23+00', '1 year 2 mons -3 days 04:05:06.7',
  '{"b": 1.50, "a":  [true, {"odd key": null}]}', '{"b": 1.50, "a": [true, {"odd key": null}]}', '\xdeadbeef',
  '192.168.0.1/24', B'10110', '(1,2)', 'top.science.astronomy', 'a=>1, b=>NULL', '[1,5)',
  '[2010-01-01 14:30+00,)', 'happy', 'ada@example.org', 99.50, ROW('Main "St"', 5, '{a,"b,c"}')
), (2, 7, 8, 0.10, 0.1, 2.5, 0.1, 5, false, 'plain', 'b', 'xyz', 'mixed', '00000000-0000-0000-0000-000000000002',
  '0044-03-15 BC', 'infinity', '-infinity', '24:00', '00:00+05:30', '01:03:02', '[]', '[]', '', '::1', B'', '(0,0)',
  'top.hobbies', '', 'empty', 'empty', 'sad', 'bob@example.org', 0, NULL);
INSERT INTO scalar (id) VALUES (3);

-- Arrays of one and more dimensions.
CREATE TABLE list (
  id int PRIMARY KEY,
  numbers int[] NOT NULL DEFAULT '{}',
  words text[],
  grid int[][],
  moods mood[],
  documents jsonb[],
  homes address[],
  days date[],
  prices numeric(8, 2)[]
);
INSERT INTO list VALUES
  (1, '{3,1,2}', '{a,"b,c","d\"e",NULL}', '{{1,2},{3,4}}', '{sad,happy}', ARRAY['{"a": 1}', '[2]']::jsonb[],
   ARRAY[ROW('x', 1, NULL), ROW(NULL, NULL, '{}')]::address[], '{2020-02-29}', '{1.5,2.50}'),
  (2, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, '{2,4}', '{}', NULL, '{ok}', NULL, NULL, NULL, NULL);

-- Keys of two columns, generated and identity columns, constraints with names.
CREATE TABLE flight (
  line text,
  number smallint,
  starts timestamptz NOT NULL DEFAULT '2020-01-01 08:00+00',
  seats int NOT NULL CONSTRAINT flight_seats_positive CHECK (seats > 0),
  PRIMARY KEY (line, number)
);
COMMENT ON TABLE flight IS 'a flight; its key has two columns';
CREATE TABLE booking (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  line text NOT NULL,
  number smallint NOT NULL,
  seat int NOT NULL,
  passenger text NOT NULL,
  label text GENERATED ALWAYS AS (line || seat::text) STORED,
  CONSTRAINT booking_of_flight FOREIGN KEY (line, number) REFERENCES flight (line, number),
  CONSTRAINT booking_seat_once UNIQUE (line, number, seat)
);
INSERT INTO flight (line, number, seats) VALUES ('WR', 1, 100), ('WR', 2, 50);
INSERT INTO booking (line, number, seat, passenger) VALUES ('WR', 1, 7, 'Ada'), ('WR', 1, 8, 'Bob');
CREATE TABLE room (
  id int PRIMARY KEY,
  during int4range NOT NULL,
  CONSTRAINT room_never_twice EXCLUDE USING gist (during WITH &&)
);
INSERT INTO room VALUES (1, '[1,5)');

-- An enum table.
CREATE TABLE color (name text PRIMARY KEY, comment text);
INSERT INTO color VALUES ('red', 'of blood'), ('blue', NULL);
CREATE TABLE car (id int PRIMARY KEY, color text NOT NULL REFERENCES color (name));
INSERT INTO car VALUES (1, 'red'), (2, 'blue');

-- Views: one PostgreSQL can write through, one it cannot, one with rows of its own; a table in parts.
CREATE VIEW late_flight AS SELECT line, number, seats FROM flight WHERE number > 1;
CREATE VIEW line_seats AS SELECT line, sum(seats) AS seats FROM flight GROUP BY line;
CREATE MATERIALIZED VIEW line_count AS SELECT line, count(*) AS flights FROM flight GROUP BY line;
CREATE TABLE measure (year int NOT NULL, value numeric(6, 2) NOT NULL, PRIMARY KEY (year)) PARTITION BY RANGE (year);
CREATE TABLE measure_old PARTITION OF measure FOR VALUES FROM (1900) TO (2000);
CREATE TABLE measure_new PARTITION OF measure FOR VALUES FROM (2000) TO (2100);
INSERT INTO measure VALUES (1999, 1.10), (2001, 2.20);

-- Numbers of each type, to be added up.
CREATE TABLE sale (id int PRIMARY KEY, small smallint, whole int, large bigint, digits numeric(10, 4), single real,
  double double precision, price money, day date, tags text[]);
INSERT INTO sale VALUES
  (1, 1, 2147483647, 9223372036854775807, 0.1000, 0.5, 0.25, 1.10, '2020-01-02', '{a}'),
  (2, 2, 2147483647, 9223372036854775807, 0.2000, 1.5, 0.50, 2.20, '2020-01-01', '{b}');

-- A schema of its own, and a name that has to be quoted.
CREATE SCHEMA shop;
CREATE TABLE shop."order" (id int PRIMARY KEY, "select" text NOT NULL, car_id int REFERENCES public.car (id));
INSERT INTO shop."order" VALUES (1, 'first', 1);
