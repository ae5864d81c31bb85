SELECT json_object('Track', json_group_array(json_object('TrackId', "TrackId"))) FROM (SELECT "TrackId" FROM "Track" WHERE "Composer" IS NOT NULL AND "TrackId" < 5 ORDER BY "TrackId");
