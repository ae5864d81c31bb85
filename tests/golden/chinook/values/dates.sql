-- chinook
-- Invoice
SELECT t0."InvoiceId", t0."InvoiceDate", t0."Total", t0."BillingState" FROM "Invoice" AS t0 ORDER BY t0."InvoiceId" LIMIT ?1
