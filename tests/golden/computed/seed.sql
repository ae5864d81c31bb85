-- Authors, their articles, and functions that make fields of them.
CREATE TABLE author (id int PRIMARY KEY, first_name text NOT NULL, last_name text, born date);
CREATE TABLE article (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  author_id int NOT NULL REFERENCES author (id) ON DELETE CASCADE,
  rating numeric(2, 1)
);
INSERT INTO author VALUES
  (1, 'Ada', 'Lovelace', '1815-12-10'), (2, 'Alan "T"', 'Turing', '1912-06-23'), (3, 'Anonymous', NULL, NULL);
INSERT INTO article (title, author_id, rating) VALUES
  ('Notes', 1, 4.5), ('Sketch, by Menabrea', 1, 3.0), ('On Computable Numbers', 2, 5.0), ('Computing Machinery', 2, 4.0);
-- A view has no key, and its rows have fields all the same.
CREATE VIEW listed AS SELECT first_name AS name, (first_name LIKE 'A_a') AS t0 FROM author;
CREATE FUNCTION full_name(author) RETURNS text STABLE LANGUAGE sql AS
  $$ SELECT $1.first_name || coalesce(' ' || $1.last_name, '') $$;
CREATE FUNCTION greeting(of_author author, word text, mark text DEFAULT '!') RETURNS text STABLE LANGUAGE sql AS
  $$ SELECT word || ' ' || of_author.first_name || mark $$;
CREATE FUNCTION seen_by(session json, of_author author) RETURNS text STABLE LANGUAGE sql AS
  $$ SELECT session ->> 'x-hasura-role' || ' sees ' || of_author.first_name $$;
CREATE FUNCTION facts(author) RETURNS jsonb STABLE LANGUAGE sql AS
  $$ SELECT jsonb_build_object('born', $1.born, 'names', jsonb_build_array($1.first_name, $1.last_name)) $$;
CREATE FUNCTION good_articles(author) RETURNS SETOF article STABLE LANGUAGE sql AS
  $$ SELECT * FROM article WHERE author_id = $1.id AND rating >= 4 $$;
CREATE FUNCTION find_articles(of_author author, word text DEFAULT '') RETURNS SETOF article STABLE LANGUAGE sql AS
  $$ SELECT * FROM article WHERE author_id = of_author.id AND title ILIKE '%' || word || '%' $$;
CREATE FUNCTION best_article(author) RETURNS article STABLE LANGUAGE sql AS
  $$ SELECT * FROM article WHERE author_id = $1.id ORDER BY rating DESC LIMIT 1 $$;
CREATE FUNCTION stars(article) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT round($1.rating)::int $$;
CREATE FUNCTION listed_articles(listed) RETURNS SETOF article STABLE LANGUAGE sql AS
  $$ SELECT b.* FROM article AS b JOIN author AS a ON a.id = b.author_id WHERE a.first_name = $1.name $$;
CREATE FUNCTION search_author(word text) RETURNS SETOF author STABLE LANGUAGE sql AS
  $$ SELECT * FROM author WHERE first_name ILIKE '%' || word || '%' $$;
CREATE FUNCTION one_author(wanted int) RETURNS author STABLE LANGUAGE sql AS
  $$ SELECT * FROM author WHERE id = wanted $$;
-- What the configuration does not say otherwise is told.
COMMENT ON FUNCTION good_articles(author) IS 'Articles of four stars or more.';
COMMENT ON FUNCTION facts(author) IS 'When and who.';
COMMENT ON FUNCTION full_name(author) IS 'Not shown.';
COMMENT ON FUNCTION best_article(author) IS 'Not shown.';
COMMENT ON FUNCTION search_author(text) IS 'Authors by a part of the first name.';
COMMENT ON FUNCTION one_author(int) IS 'Not shown.';
COMMENT ON TABLE author IS 'Not shown.';
COMMENT ON COLUMN author.born IS 'Not shown.';
COMMENT ON TABLE article IS 'What an author wrote.';
