INSERT INTO City(id,name,country_id,population,area,founded,founded_at,at_longitude,at_latitude,done,mood) VALUES
 (16,'Berlin',NULL,3677472,891.7,'1237-01-01',-23130748800000000,13.4,52.5,1,'HAPPY'),
 (17,'Hamburg the port of the world',NULL,1800000,NULL,'2020-01-01T00:00:00+02:00',1577829600000000,NULL,NULL,0,'SAD'),
 (18,'Paris',NULL,NULL,105.4,NULL,NULL,2.35,48.85,NULL,NULL),
 (19,'Quick-brown fox "city" & Bär',NULL,5,1,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO Country(id,code,name,capital_id) VALUES (1,'de','Germany',16),(2,'fr','France',18),(3,'jp','Japan',NULL);
UPDATE City SET country_id=1 WHERE id IN (16,17); UPDATE City SET country_id=2 WHERE id=18;
INSERT INTO City_tags(id,value) VALUES (16,'old'),(16,'big'),(18,'old');
INSERT INTO City_twins VALUES (16,18),(18,16),(17,19),(19,17);
INSERT INTO Animal(id,type,name) VALUES (32,'Dog','Rex'),(33,'Cat','Tom');
INSERT INTO Person(id,email) VALUES (48,'ada@x'),(49,'bob@x');
INSERT INTO Dog(id,name,legs,breed,home_id,keeper_id) VALUES (32,'Rex',4,'Lab',16,48);
INSERT INTO Cat(id,name,legs,lives,home_id,keeper_id) VALUES (33,'Tom',4,9,NULL,48);
INSERT INTO Thing(id,type) VALUES (16,'City'),(17,'City'),(18,'City'),(19,'City'),(32,'Dog');
INSERT INTO Person_likes VALUES (48,16),(48,32),(49,18);
UPDATE Person SET best_id=32 WHERE id=48;
UPDATE City SET region = '[[[13,52],[14,52],[14,53],[13,53],[13,52]]]', region_west = 13, region_south = 52, region_east = 14, region_north = 53 WHERE id = 16;
UPDATE City SET region = '[[[2,48],[3,48],[3,49],[2,49],[2,48]]]', region_west = 2, region_south = 48, region_east = 3, region_north = 49 WHERE id = 18;
