-- computed
-- author
SELECT "public"."greeting"(t0.*, "word" => $1), "public"."greeting"(t0.*, "word" => $2, "mark" => $3), "public"."greeting"(t0.*, "word" => NULL) FROM "public"."author" AS t0 WHERE t0."id" <= $4 ORDER BY t0."id"
