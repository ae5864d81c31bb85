-- native_rules
-- right: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- wrong: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- none: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- right
SELECT t0."login", t0."name" FROM "Sailor" AS t0 WHERE t0."id" = ?1

-- wrong
SELECT t0."login" FROM "Sailor" AS t0 WHERE t0."id" = ?1

-- none
SELECT t0."login" FROM "Sailor" AS t0 WHERE t0."id" = ?1

-- getSailor
SELECT t0."login" FROM "Sailor" AS t0 WHERE (1 = 0) AND t0."login" = ?1
