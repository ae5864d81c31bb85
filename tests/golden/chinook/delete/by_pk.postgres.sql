-- chinook
-- InvoiceLine
DELETE FROM "public"."InvoiceLine" AS t0 WHERE t0."InvoiceLineId" = $1 RETURNING "InvoiceLineId", "UnitPrice"

-- InvoiceLine
DELETE FROM "public"."InvoiceLine" AS t0 WHERE t0."InvoiceLineId" = $1 RETURNING "InvoiceLineId"
