-- For a Citus, between schema.sql and data.sql: every table of a tenant by its tenant, together; what all share everywhere.
SELECT create_reference_table('currency');
SELECT create_distributed_table('tenant', 'tenant_id');
SELECT create_distributed_table('product', 'tenant_id', colocate_with => 'tenant');
SELECT create_distributed_table('purchase', 'tenant_id', colocate_with => 'tenant');
SELECT create_distributed_table('line', 'tenant_id', colocate_with => 'tenant');
