-- A shop for many tenants: the tenant is in every key. Plain PostgreSQL takes it as it is; distribute.sql spreads it over a Citus.
CREATE TABLE currency (code text PRIMARY KEY, name text NOT NULL);
CREATE TABLE tenant (tenant_id bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE product (
  tenant_id bigint NOT NULL REFERENCES tenant,
  product_id bigint NOT NULL,
  name text NOT NULL,
  price numeric(10, 2) NOT NULL,
  currency_code text NOT NULL REFERENCES currency,
  PRIMARY KEY (tenant_id, product_id)
);
CREATE TABLE purchase (
  tenant_id bigint NOT NULL REFERENCES tenant,
  purchase_id bigint NOT NULL,
  buyer text NOT NULL,
  PRIMARY KEY (tenant_id, purchase_id)
);
CREATE TABLE line (
  tenant_id bigint NOT NULL,
  purchase_id bigint NOT NULL,
  line_no int NOT NULL,
  product_id bigint NOT NULL,
  quantity int NOT NULL,
  PRIMARY KEY (tenant_id, purchase_id, line_no),
  FOREIGN KEY (tenant_id, purchase_id) REFERENCES purchase,
  FOREIGN KEY (tenant_id, product_id) REFERENCES product
);
