-- chinook
-- InvoiceLine
DELETE FROM "InvoiceLine" AS t0 WHERE t0."InvoiceLineId" = ?1 RETURNING "InvoiceLine"."InvoiceLineId", "InvoiceLine"."UnitPrice"

-- InvoiceLine
DELETE FROM "InvoiceLine" AS t0 WHERE t0."InvoiceLineId" = ?1 RETURNING "InvoiceLine"."InvoiceLineId"
