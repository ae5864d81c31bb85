-- Artists, their albums and functions over them.
CREATE TABLE artist (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE album (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  artist_id int NOT NULL REFERENCES artist (id)
);
CREATE TABLE visit_log (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text);
INSERT INTO artist VALUES (1, 'AC/DC'), (2, 'Accept');
INSERT INTO album (title, artist_id) VALUES
  ('For Those About To Rock', 1), ('Let There Be Rock', 1), ('Balls to the Wall', 2), ('Restless and Wild', 2);
CREATE FUNCTION search_album(word text, of_artist int DEFAULT NULL) RETURNS SETOF album STABLE LANGUAGE sql AS
  $$ SELECT * FROM album WHERE title ILIKE '%' || word || '%' AND artist_id = coalesce(of_artist, artist_id) $$;
CREATE FUNCTION newest_album(before int DEFAULT 1000) RETURNS album STABLE LANGUAGE sql AS
  $$ SELECT * FROM album WHERE id < before ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION my_album(hasura_session json) RETURNS SETOF album STABLE LANGUAGE sql AS
  $$ SELECT * FROM album WHERE hasura_session ->> 'x-hasura-role' = 'admin' $$;
CREATE FUNCTION add_album(title text, artist text) RETURNS SETOF album LANGUAGE sql AS
  $$ WITH made AS (INSERT INTO artist SELECT max(a.id) + 1, add_album.artist FROM artist AS a RETURNING id)
     INSERT INTO album (title, artist_id) SELECT add_album.title, made.id FROM made RETURNING * $$;
CREATE FUNCTION count_visit(word text) RETURNS SETOF visit_log LANGUAGE sql AS
  $$ INSERT INTO visit_log (word) VALUES (count_visit.word) RETURNING * $$;
CREATE FUNCTION few_albums(word text, int DEFAULT 10, boolean DEFAULT false) RETURNS SETOF album STABLE LANGUAGE sql AS
  $$ SELECT * FROM album WHERE title ILIKE '%' || word || '%' AND id <= $2 AND (NOT $3 OR id % 2 = 0) ORDER BY id $$;
CREATE FUNCTION albums_of(who artist, lowest int) RETURNS SETOF album STABLE LANGUAGE sql AS
  $$ SELECT * FROM album WHERE artist_id = (who).id AND id >= lowest ORDER BY id $$;
