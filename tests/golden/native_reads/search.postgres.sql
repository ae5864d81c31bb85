-- native_reads
-- terms
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', translate(t0."name", '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ')) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- any
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', translate(t0."name", '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ')) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- text
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('english', translate(t0."name", '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ')) @@ to_tsquery('english', $1) ORDER BY t0."id"

-- pattern
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id"

-- quoted
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', translate(t0."name", '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ')) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- empty
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', translate(t0."name", '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ')) @@ to_tsquery('simple', $1) ORDER BY t0."id"
