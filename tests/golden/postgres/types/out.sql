-- postgres
-- scalar
SELECT t0."id", t0."small", t0."large", t0."digits", t0."scaled", t0."single", t0."double", t0."price", t0."yes", t0."words", t0."short", t0."padded", t0."folded", t0."code", t0."day", t0."moment", t0."instant", t0."clock", t0."clock_there", t0."span", t0."document", t0."binary_document", t0."bytes", t0."host", t0."bits", t0."place", t0."path", t0."pairs", t0."reserved", t0."booked", t0."feeling", t0."mail", t0."share", t0."home" FROM "public"."scalar" AS t0 ORDER BY t0."id"
