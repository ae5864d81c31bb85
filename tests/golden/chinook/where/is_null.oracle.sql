SELECT json_object('Track', json_group_array(json_object('TrackId', "TrackId"))) FROM (SELECT "TrackId" FROM "Track" WHERE "Composer" IS NULL AND "TrackId" < 70 ORDER BY "TrackId");
