CREATE TABLE product (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, price_cents integer NOT NULL);
INSERT INTO product (name, price_cents) VALUES ('Lamp', 1990), ('Chair', 7900);
