--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: everythings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.everythings (
    id bigint NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    deleted_at timestamp with time zone,
    bool boolean,
    "int" bigint,
    int8 smallint,
    int16 smallint,
    int32 integer,
    int64 bigint,
    uint bigint,
    uint8 smallint,
    uint16 integer,
    uint32 bigint,
    float32 numeric,
    float64 numeric,
    text text,
    short character varying(40),
    "unique" text,
    partial text,
    lower text,
    bytes bytea,
    "time" timestamp with time zone,
    millis bigint,
    null_string text,
    null_int64 bigint,
    null_float64 numeric,
    null_bool boolean,
    null_time timestamp with time zone,
    null_byte smallint,
    document jsonb,
    map jsonb,
    typed jsonb,
    slice jsonb,
    date date,
    clock time without time zone,
    link text,
    uuid uuid,
    bin_uuid bytea,
    as_json text,
    as_gob bytea,
    as_unix timestamp without time zone,
    home_city text,
    home_lines text,
    "decimal" numeric(20,6)
);


--
-- Name: everythings_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everythings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everythings_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everythings_id_seq OWNED BY public.everythings.id;


--
-- Name: friends; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.friends (
    everything_id bigint NOT NULL,
    friend_id bigint NOT NULL
);


--
-- Name: pairs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pairs (
    everything_id bigint NOT NULL,
    name text NOT NULL,
    note text
);


--
-- Name: everythings id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everythings ALTER COLUMN id SET DEFAULT nextval('public.everythings_id_seq'::regclass);


--
-- Data for Name: everythings; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.everythings (id, created_at, updated_at, deleted_at, bool, "int", int8, int16, int32, int64, uint, uint8, uint16, uint32, float32, float64, text, short, "unique", partial, lower, bytes, "time", millis, null_string, null_int64, null_float64, null_bool, null_time, null_byte, document, map, typed, slice, date, clock, link, uuid, bin_uuid, as_json, as_gob, as_unix, home_city, home_lines, "decimal") FROM stdin;
1	2026-11-30 20:04:22.315904+00	2026-11-30 20:04:22.315904+00	\N	t	2147483647	-128	-32768	-2147483648	9223372036854775807	2147483647	255	32767	2147483647	0.5	0.30000000000000004	Straße, 東京	short	u1	p1	L1	\\x00ff41	2024-02-29 23:59:59.123456+00	1796069062315		-1	1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	f	1970-01-01 00:00:00+00	7	{"a": [1, 2.5, null]}	{"a": "b"}	{"City": "Bern", "Lines": null}	[1, 2]	2024-02-29	12:30:15	https://ada@example.org:8080/a?q=1#b	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	\\x0b5a1f3466c14a2c8a5e27d1b0a0c002	{"x":true}	\\x0b7f020102ff8000010c000008ff80000201610162	2023-11-14 22:13:20	東京	["one","two"]	12345678.123456
2	2026-11-30 20:04:22.317295+00	2026-11-30 20:04:22.317295+00	\N	f	0	0	0	0	-1	0	0	0	0	-1000000015047466200000000000000	1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000			u2		l2	\\x	1970-01-01 00:00:00+00	1796069062317	\N	\N	\N	\N	\N	\N	[]	{}	{"City": "", "Lines": null}	[]	\N	\N	\N	\N	\N	\N	\\x0b7f020102ff8000010c000004ff800000	1970-01-01 00:00:00		\N	-0.250000
3	2026-11-30 20:04:22.318461+00	2026-11-30 20:04:22.318461+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	u3	\N	l3	\N	\N	1796069062318	\N	\N	\N	\N	\N	\N	\N	{}	{"City": "", "Lines": null}	[]	\N	\N	\N	\N	\N	\N	\\x0b7f020102ff8000010c000004ff800000	1970-01-01 00:00:00		\N	\N
\.


--
-- Data for Name: friends; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.friends (everything_id, friend_id) FROM stdin;
1	2
\.


--
-- Data for Name: pairs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.pairs (everything_id, name, note) FROM stdin;
1	b	\N
1	a	y
\.


--
-- Name: everythings_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everythings_id_seq', 3, true);


--
-- Name: everythings everythings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everythings
    ADD CONSTRAINT everythings_pkey PRIMARY KEY (id);


--
-- Name: friends friends_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.friends
    ADD CONSTRAINT friends_pkey PRIMARY KEY (everything_id, friend_id);


--
-- Name: pairs pairs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_pkey PRIMARY KEY (everything_id, name);


--
-- Name: idx_everythings_deleted_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_everythings_deleted_at ON public.everythings USING btree (deleted_at);


--
-- Name: idx_everythings_unique; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX idx_everythings_unique ON public.everythings USING btree ("unique");


--
-- Name: lower; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX lower ON public.everythings USING btree (lower(lower));


--
-- Name: partial; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX partial ON public.everythings USING btree (partial) WHERE (partial <> ''::text);


--
-- Name: friends fk_friends_everything; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.friends
    ADD CONSTRAINT fk_friends_everything FOREIGN KEY (everything_id) REFERENCES public.everythings(id);


--
-- Name: friends fk_friends_friends; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.friends
    ADD CONSTRAINT fk_friends_friends FOREIGN KEY (friend_id) REFERENCES public.everythings(id);


--
-- Name: pairs fk_pairs_everything; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT fk_pairs_everything FOREIGN KEY (everything_id) REFERENCES public.everythings(id);


--
-- PostgreSQL database dump complete
--


