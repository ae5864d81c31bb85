-- native_names
-- desc
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE (left(t0."desc", 500) = left($1, 500) AND t0."desc" = $1) ORDER BY t0."id"

-- term
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE to_tsvector('simple', public.weir_words(t0."desc")) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- text
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE to_tsvector('english', public.weir_words(t0."desc")) @@ to_tsquery('english', $1) ORDER BY t0."id"

-- ngram
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE (t0."desc" ~ $1 AND strpos((SELECT ' ' || string_agg(nullif(to_tsvector('english', w.word)::text, ''), ' ' ORDER BY w.place) || ' ' FROM ts_parse('default', regexp_replace(translate(replace(translate(t0."desc", 'Σς', 'σσ'), 'İ', 'i̇'), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                '), '([\U00003005-\U00003007\U00003021-\U00003029\U00003038-\U0000303B\U00003041-\U00003096\U0000309D-\U0000309F\U00003400-\U00004DBF\U00004E00-\U00009FFF\U0000F900-\U0000FAFF\U0001B000-\U0001B122\U00020000-\U0002FA1F\U00030000-\U000323AF]|[\U000030A1-\U000030FA\U000030FC-\U000030FF\U000031F0-\U000031FF\U0000FF66-\U0000FF9F]+)', ' \1 ', 'g')) WITH ORDINALITY AS w(kind, word, place) WHERE w.kind <> 12), (SELECT ' ' || string_agg(nullif(to_tsvector('english', w.word)::text, ''), ' ' ORDER BY w.place) || ' ' FROM ts_parse('default', regexp_replace(translate(replace(translate($2, 'Σς', 'σσ'), 'İ', 'i̇'), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                '), '([\U00003005-\U00003007\U00003021-\U00003029\U00003038-\U0000303B\U00003041-\U00003096\U0000309D-\U0000309F\U00003400-\U00004DBF\U00004E00-\U00009FFF\U0000F900-\U0000FAFF\U0001B000-\U0001B122\U00020000-\U0002FA1F\U00030000-\U000323AF]|[\U000030A1-\U000030FA\U000030FC-\U000030FF\U000031F0-\U000031FF\U0000FF66-\U0000FF9F]+)', ' \1 ', 'g')) WITH ORDINALITY AS w(kind, word, place) WHERE w.kind <> 12)) > 0) ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)

-- regexp
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE t0."desc" ~ $1 ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)

-- asc
SELECT t0."asc" FROM "public"."Part" AS t0 WHERE t0."asc" >= $1 ORDER BY t0."id"

-- has_
SELECT t0."has" FROM "public"."Part" AS t0 WHERE t0."has" = $1 ORDER BY t0."id"

-- has
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE (t0."has" IS NOT NULL AND t0."then_id" IS NOT NULL) ORDER BY t0."id"

-- has_either
SELECT t0."desc" FROM "public"."Part" AS t0 WHERE (t0."then_id" IS NOT NULL OR t0."has" IS NOT NULL) ORDER BY t0."id"

-- and_
SELECT t0."and" FROM "public"."Part" AS t0 WHERE (t0."and" = $1 AND t0."asc" < $2) ORDER BY t0."id"

-- or_
SELECT t0."or" FROM "public"."Part" AS t0 WHERE t0."or_at" >= $1 ORDER BY t0."id"

-- not_
SELECT t0."id" FROM "public"."Part" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Part_not" AS t1 WHERE t1."id" = t0."id" AND t1."value" = $1) AND (EXISTS (SELECT 1 FROM "public"."Part_not" AS t2 WHERE t2."id" = t0."id" AND t2."value" = $2)) IS NOT TRUE) ORDER BY t0."id"

-- not_.not
SELECT 0::int2, t0."value", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Part_not" AS t0 ON t0."id" = p.k0 ORDER BY t0."place"

-- then
SELECT t0."then_id" FROM "public"."Part" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Part" AS t1 WHERE t1."id" = t0."then_id" AND t1."asc" = $1) ORDER BY t0."id"

-- then.then
SELECT 0::int2, t0."desc", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Part" AS t0 ON t0."id" = p.k0

-- edges
SELECT t0."name", t0."has_id", t0."id" FROM "public"."Owner" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Part" AS t1 WHERE t1."id" = t0."has_id" AND t1."asc" = $1) AND EXISTS (SELECT 1 FROM "public"."Owner" AS t2 JOIN "public"."Owner_or" AS t3 ON t3."owner_id" = t0."id" WHERE t2."id" = t3."or_id" AND t2."name" = $2)) ORDER BY t0."id"

-- edges.has, edges.or
WITH l1 AS MATERIALIZED (SELECT t1."name" AS c0, p.n AS k0 FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN ("public"."Owner_or" AS t2 JOIN "public"."Owner" AS t1 ON t1."id" = t2."or_id") ON t2."owner_id" = p.k1 ORDER BY t2."or_id") SELECT 0::int2, t0."asc", p.n, NULL::text FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."Part" AS t0 ON t0."id" = p.k0 UNION ALL SELECT 1::int2, NULL, l1.k0, l1.c0 FROM l1
