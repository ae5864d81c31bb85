INSERT INTO currency VALUES ('EUR', 'Euro'), ('NOK', 'Krone');
INSERT INTO tenant SELECT t, 'Shop ' || t FROM generate_series(1, 4) AS t;
INSERT INTO product
SELECT t, p, (ARRAY['Tea', 'Mug', 'Pot'])[p], t + p, CASE WHEN t < 3 THEN 'EUR' ELSE 'NOK' END
FROM generate_series(1, 4) AS t, generate_series(1, 3) AS p;
INSERT INTO purchase SELECT t, p, (ARRAY['Ann', 'Ben'])[p] FROM generate_series(1, 4) AS t, generate_series(1, 2) AS p;
INSERT INTO line SELECT t, p, 1, p, t FROM generate_series(1, 4) AS t, generate_series(1, 2) AS p;
INSERT INTO line VALUES (3, 1, 2, 3, 1);
