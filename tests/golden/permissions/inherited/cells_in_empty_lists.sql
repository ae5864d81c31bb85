-- permissions
-- out
SELECT t0."id", CASE WHEN (t0."owner" = ?1 AND t0."owner" IS NOT NULL) THEN t0."owner" END FROM "boat" AS t0 WHERE (t0."price" < ?2 OR (t0."owner" = ?1 AND t0."owner" IS NOT NULL)) AND CASE WHEN (t0."owner" = ?1 AND t0."owner" IS NOT NULL) THEN t0."owner" NOT IN (SELECT value FROM json_each(?3)) ELSE NULL NOT IN (SELECT value FROM json_each(?3)) END ORDER BY t0."id" LIMIT ?4

-- not_in
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."price" < ?1 OR (t0."owner" = ?2 AND t0."owner" IS NOT NULL)) AND NOT (CASE WHEN (t0."owner" = ?2 AND t0."owner" IS NOT NULL) THEN t0."owner" IN (SELECT value FROM json_each(?3)) ELSE NULL IN (SELECT value FROM json_each(?3)) END) ORDER BY t0."id" LIMIT ?4

-- unknown
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."price" < ?1 OR (t0."owner" = ?2 AND t0."owner" IS NOT NULL)) AND CASE WHEN (t0."owner" = ?2 AND t0."owner" IS NOT NULL) THEN t0."owner" NOT IN (SELECT value FROM json_each(?3)) ELSE NULL NOT IN (SELECT value FROM json_each(?3)) END ORDER BY t0."id" LIMIT ?4

-- in
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."price" < ?1 OR (t0."owner" = ?2 AND t0."owner" IS NOT NULL)) AND CASE WHEN (t0."owner" = ?2 AND t0."owner" IS NOT NULL) THEN t0."owner" IN (SELECT value FROM json_each(?3)) ELSE NULL IN (SELECT value FROM json_each(?3)) END LIMIT ?4
