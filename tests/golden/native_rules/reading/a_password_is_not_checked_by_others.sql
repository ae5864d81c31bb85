-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- checkSailorPassword
SELECT t0."login" FROM "Sailor" AS t0 WHERE (1 = 0) AND t0."id" = ?1

-- getSailor
SELECT t0."login", t0."name" FROM "Sailor" AS t0 WHERE (t0."login" = ?1 AND t0."login" IS NOT NULL) AND t0."login" = ?2
