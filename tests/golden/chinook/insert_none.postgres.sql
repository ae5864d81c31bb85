-- chinook

