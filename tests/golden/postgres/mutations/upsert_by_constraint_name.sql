-- postgres
-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT "booking_seat_once" DO UPDATE SET "passenger" = excluded."passenger" WHERE t0."passenger" <> $5 RETURNING "seat", "passenger"

-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT "booking_seat_once" DO UPDATE SET "passenger" = excluded."passenger" WHERE t0."passenger" <> $5 RETURNING "seat", "passenger"

-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT "booking_seat_once" DO NOTHING RETURNING "seat"
