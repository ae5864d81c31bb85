-- postgres
-- scalar
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE ((t0."small" = $1 AND t0."large" > $2 AND t0."digits" = $3 AND t0."single" < $4 AND t0."double" >= $5 AND t0."price" >= $6 AND t0."yes" = $7 AND t0."padded" = $8 AND t0."code" = ANY($9)) AND (t0."day" < $10 AND t0."instant" = $11 AND t0."span" > $12 AND t0."bytes" = $13 AND t0."host" <> $14 AND t0."reserved" = $15 AND t0."feeling" > $16 AND t0."mail" = $17 AND t0."share" <= $18 AND t0."home" = $19))
