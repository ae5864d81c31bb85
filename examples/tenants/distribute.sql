SET citus.enable_local_reference_table_foreign_keys TO off;
-- For a Citus, between schema.sql and data.sql: every table of a tenant by its tenant, together; what all share everywhere.
-- Without the setting above, tables that refer to a reference table become local tables of Citus, which cannot be distributed.
SELECT create_reference_table('currency');
SELECT create_distributed_table('tenant', 'tenant_id');
SELECT create_distributed_table('product', 'tenant_id', colocate_with => 'tenant');
SELECT create_distributed_table('purchase', 'tenant_id', colocate_with => 'tenant');
SELECT create_distributed_table('line', 'tenant_id', colocate_with => 'tenant');
