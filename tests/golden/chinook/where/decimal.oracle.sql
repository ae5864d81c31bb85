SELECT json_object('Track_aggregate', json_object('aggregate', json_object('count', count(*)))) FROM "Track" WHERE "UnitPrice" > 0.99;
