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

--
-- Name: color; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.color AS ENUM (
    'red',
    'dark blue'
);


--
-- Name: size; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.size AS ENUM (
    'small',
    'very large'
);


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: everything; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.everything (
    id integer NOT NULL,
    big bigint,
    huge bigint,
    big_serial bigint NOT NULL,
    huge_serial bigint NOT NULL,
    truth boolean,
    "char" character(6),
    cidr cidr,
    numbers integer[],
    list character varying(40),
    day date,
    day_text date,
    double double precision,
    color public.color,
    size public.size,
    inet inet,
    whole integer,
    span interval,
    json json,
    jsonb jsonb,
    line_abc line,
    line line,
    mac macaddr,
    mac8 macaddr8,
    price_big numeric(20,0),
    price numeric(20,6),
    price_number numeric,
    point_xy point,
    point point,
    "real" real,
    serial integer NOT NULL,
    small smallint,
    small_serial smallint NOT NULL,
    text text,
    "time" time without time zone,
    moment timestamp with time zone,
    moment_text timestamp without time zone,
    key uuid,
    "varchar" character varying(40)
);


--
-- Name: everything_big_serial_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everything_big_serial_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everything_big_serial_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everything_big_serial_seq OWNED BY public.everything.big_serial;


--
-- Name: everything_huge_serial_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everything_huge_serial_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everything_huge_serial_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everything_huge_serial_seq OWNED BY public.everything.huge_serial;


--
-- Name: everything_serial_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everything_serial_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everything_serial_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everything_serial_seq OWNED BY public.everything.serial;


--
-- Name: everything_small_serial_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everything_small_serial_seq
    AS smallint
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everything_small_serial_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everything_small_serial_seq OWNED BY public.everything.small_serial;


--
-- Name: pairs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pairs (
    everything_id integer NOT NULL,
    name text NOT NULL,
    note text DEFAULT 'none'::text
);


--
-- Name: everything big_serial; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN big_serial SET DEFAULT nextval('public.everything_big_serial_seq'::regclass);


--
-- Name: everything huge_serial; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN huge_serial SET DEFAULT nextval('public.everything_huge_serial_seq'::regclass);


--
-- Name: everything serial; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN serial SET DEFAULT nextval('public.everything_serial_seq'::regclass);


--
-- Name: everything small_serial; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN small_serial SET DEFAULT nextval('public.everything_small_serial_seq'::regclass);


--
-- Data for Name: everything; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.everything (id, big, huge, big_serial, huge_serial, truth, "char", cidr, numbers, list, day, day_text, double, color, size, inet, whole, span, json, jsonb, line_abc, line, mac, mac8, price_big, price, price_number, point_xy, point, "real", serial, small, small_serial, text, "time", moment, moment_text, key, "varchar") FROM stdin;
1	9007199254740991	9223372036854775807	7	7	t	sixsix	10.0.0.0/8	{1,2}	a|b	2024-02-29	2024-02-29	0.30000000000000004	red	small	10.0.0.1	2147483647	3 days 00:00:00.000005	{"a":[1,2.5,null],"b":{"c":true}}	{"a": [1, 2.5, null], "b": {"c": true}}	{1,2,3}	{1,2,3}	08:00:2b:01:02:03	08:00:2b:01:02:03:04:05	1234567890123	12345678901234.123456	1234.5	(1,2.5)	(1,2.5)	0.5	7	-32768	7	Straße, 東京	12:30:15.25	2024-02-29 23:59:59.123+00	2024-02-29 23:59:59.123456	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	Straße, 東京
2	-1	-1	8	8	f	123456	2001:db8::/32	{}	c	1970-01-01	9999-12-31	1e+300	dark blue	very large	2001:db8::1/64	-1	-1 years	[]	[]	{0,1,-0.5}	{0,1,-0.5}	00:00:00:00:00:00	00:00:00:00:00:00:00:00	-1	-0.000001	-0.25	(0,-1)	(0,-1)	-1e+30	8	0	8		00:00:00	1970-01-01 00:00:00+00	1970-01-01 00:00:00	00000000-0000-0000-0000-000000000000	
3	\N	\N	1	1	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	1	\N	1	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: pairs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.pairs (everything_id, name, note) FROM stdin;
1	a	none
1	b	other
\.


--
-- Name: everything_big_serial_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_big_serial_seq', 1, true);


--
-- Name: everything_huge_serial_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_huge_serial_seq', 1, true);


--
-- Name: everything_serial_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_serial_seq', 1, true);


--
-- Name: everything_small_serial_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_small_serial_seq', 1, true);


--
-- Name: everything everything_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything
    ADD CONSTRAINT everything_pkey PRIMARY KEY (id);


--
-- Name: pairs pairs_everything_id_name_pk; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_everything_id_name_pk PRIMARY KEY (everything_id, name);


--
-- Name: pairs_note; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX pairs_note ON public.pairs USING btree (note);


--
-- Name: pairs pairs_everything_id_everything_id_fk; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_everything_id_everything_id_fk FOREIGN KEY (everything_id) REFERENCES public.everything(id);


--
-- PostgreSQL database dump complete
--


