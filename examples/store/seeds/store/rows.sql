INSERT INTO public.customer (name, email) VALUES ('Ada', 'ada@example.test'), ('Bo', 'bo@example.test');
INSERT INTO public.product (name, price) VALUES ('Lamp', 39.5), ('Desk', 240), ('Chair', 95);
INSERT INTO public.purchase (customer_id, product_id, quantity, carrier_code) VALUES (1, 1, 2, 'bike'), (1, 2, 1, 'truck'), (2, 3, 4, 'truck');
