-- Identity columns go on after the rows that are there.
SELECT setval(pg_get_serial_sequence('"Artist"','ArtistId'), (SELECT max("ArtistId") FROM "Artist"));
SELECT setval(pg_get_serial_sequence('"Album"','AlbumId'), (SELECT max("AlbumId") FROM "Album"));
SELECT setval(pg_get_serial_sequence('"MediaType"','MediaTypeId'), (SELECT max("MediaTypeId") FROM "MediaType"));
SELECT setval(pg_get_serial_sequence('"Genre"','GenreId'), (SELECT max("GenreId") FROM "Genre"));
SELECT setval(pg_get_serial_sequence('"Track"','TrackId'), (SELECT max("TrackId") FROM "Track"));
SELECT setval(pg_get_serial_sequence('"Employee"','EmployeeId'), (SELECT max("EmployeeId") FROM "Employee"));
SELECT setval(pg_get_serial_sequence('"Customer"','CustomerId'), (SELECT max("CustomerId") FROM "Customer"));
SELECT setval(pg_get_serial_sequence('"Invoice"','InvoiceId'), (SELECT max("InvoiceId") FROM "Invoice"));
SELECT setval(pg_get_serial_sequence('"InvoiceLine"','InvoiceLineId'), (SELECT max("InvoiceLineId") FROM "InvoiceLine"));
SELECT setval(pg_get_serial_sequence('"Playlist"','PlaylistId'), (SELECT max("PlaylistId") FROM "Playlist"));
ANALYZE;
