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
-- Name: citext; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;


--
-- Name: EXTENSION citext; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION citext IS 'data type for case-insensitive character strings';


--
-- Name: hstore; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;


--
-- Name: EXTENSION hstore; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION hstore IS 'data type for storing sets of (key, value) pairs';


--
-- Name: color; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.color AS ENUM (
    'RED',
    'DARK_BLUE'
);


--
-- Name: positive; Type: DOMAIN; Schema: public; Owner: -
--

CREATE DOMAIN public.positive AS integer
	CONSTRAINT positive_check CHECK ((VALUE > 0));


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
    bigint_sql bigint,
    boolean_sql boolean,
    biginteger_any bigint,
    boolean_any boolean,
    char_sql character(6),
    date_sql date,
    decimal_sql numeric(20,6),
    double_precision_sql double precision,
    date_any date,
    datetime_any timestamp with time zone,
    double_any double precision,
    enum_any public.color,
    float_sql double precision,
    float_any double precision,
    int_sql integer,
    integer_sql integer,
    integer_any integer,
    interval_any interval,
    json_sql json,
    largebinary_any bytea,
    numeric_sql numeric(20,6),
    numeric_any numeric(20,6),
    pickletype_any bytea,
    real_sql real,
    smallint_sql smallint,
    smallinteger_any smallint,
    string_any character varying(40),
    text_sql text,
    time_sql time without time zone,
    timestamp_sql timestamp without time zone,
    text_any text,
    time_any time without time zone,
    uuid_sql uuid,
    unicode_any character varying(40),
    unicodetext_any text,
    uuid_any uuid,
    varchar_sql character varying(40),
    array_sql integer[],
    bit_sql bit(4),
    bytea_sql bytea,
    cidr_sql cidr,
    citext_sql public.citext,
    domain_sql public.positive,
    enum_sql public.size,
    hstore_sql public.hstore,
    inet_sql inet,
    interval_sql interval,
    jsonb_sql jsonb,
    jsonpath_sql jsonpath,
    macaddr_sql macaddr,
    macaddr8_sql macaddr8,
    money_sql money,
    oid_sql oid,
    regclass_sql regclass,
    regconfig_sql regconfig,
    tsquery_sql tsquery,
    tsvector_sql tsvector,
    daterange_sql daterange,
    datemultirange_sql datemultirange,
    int4range_sql int4range,
    int4multirange_sql int4multirange,
    int8range_sql int8range,
    int8multirange_sql int8multirange,
    numrange_sql numrange,
    nummultirange_sql nummultirange,
    tsrange_sql tsrange,
    tsmultirange_sql tsmultirange,
    tstzrange_sql tstzrange,
    tstzmultirange_sql tstzmultirange
);


--
-- Name: everything_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.everything_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: everything_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.everything_id_seq OWNED BY public.everything.id;


--
-- Name: pairs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pairs (
    everything_id integer NOT NULL,
    name character varying(20) NOT NULL,
    twice integer GENERATED ALWAYS AS ((everything_id * 2)) STORED
);


--
-- Name: everything id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN id SET DEFAULT nextval('public.everything_id_seq'::regclass);


--
-- Data for Name: everything; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.everything (id, bigint_sql, boolean_sql, biginteger_any, boolean_any, char_sql, date_sql, decimal_sql, double_precision_sql, date_any, datetime_any, double_any, enum_any, float_sql, float_any, int_sql, integer_sql, integer_any, interval_any, json_sql, largebinary_any, numeric_sql, numeric_any, pickletype_any, real_sql, smallint_sql, smallinteger_any, string_any, text_sql, time_sql, timestamp_sql, text_any, time_any, uuid_sql, unicode_any, unicodetext_any, uuid_any, varchar_sql, array_sql, bit_sql, bytea_sql, cidr_sql, citext_sql, domain_sql, enum_sql, hstore_sql, inet_sql, interval_sql, jsonb_sql, jsonpath_sql, macaddr_sql, macaddr8_sql, money_sql, oid_sql, regclass_sql, regconfig_sql, tsquery_sql, tsvector_sql, daterange_sql, datemultirange_sql, int4range_sql, int4multirange_sql, int8range_sql, int8multirange_sql, numrange_sql, nummultirange_sql, tsrange_sql, tsmultirange_sql, tstzrange_sql, tstzmultirange_sql) FROM stdin;
1	9223372036854775807	t	9223372036854775807	f	sixsix	2024-02-29	12345678.123456	0.30000000000000004	2024-02-29	2024-02-29 23:59:59.123456+00	0.30000000000000004	RED	0.30000000000000004	0.30000000000000004	2147483647	2147483647	2147483647	3 days 00:00:00.000005	{"a": [1, 2.5, null], "b": {"c": true}}	\\x00ff206279746573	12345678.123456	12345678.123456	\\x8005950e000000000000007d948c0161944b014b028694732e	0.5	-32768	-32768	Straße, 東京	Straße, 東京	12:30:15.25	2024-02-29 23:59:59.123456	Straße, 東京	12:30:15.25	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	Straße, 東京	Straße, 東京	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	Straße, 東京	{1,NULL,3}	1010	\\x00ff206279746573	10.0.0.0/8	Straße, 東京	1	small	"a"=>"1", "b"=>NULL	10.0.0.1	3 days 00:00:00.000005	{"a": [1, 2.5, null], "b": {"c": true}}	$."a"[*]	08:00:2b:01:02:03	08:00:2b:01:02:03:04:05	$1,234.50	4294967295	pg_class	english	'a' & 'b'	'a':1 'b':2	[2024-02-29,2024-03-03)	{[2024-02-29,2024-03-03)}	[1,5)	{[1,5)}	[1,5000000000)	{[1,5000000000)}	[0.5,1.25)	{[0.5,1.25)}	["1970-01-01 00:00:00","2024-02-29 23:59:59.123456")	{["1970-01-01 00:00:00","2024-02-29 23:59:59.123456")}	["1970-01-01 00:00:00+00","2024-02-29 23:59:59.123456+00")	{["1970-01-01 00:00:00+00","2024-02-29 23:59:59.123456+00")}
2	-1	f	-1	t	123456	0001-01-01	-0.000001	1e+300	9999-12-31	1970-01-01 00:00:00+00	1e+300	DARK_BLUE	1e+300	1e+300	-1	-1	-1	00:00:01	[]	\\x	-0.000001	-0.000001	\\x80055d942e	-1e+30	0	0			00:00:00	1970-01-01 00:00:00		23:59:59	ffffffff-ffff-ffff-ffff-ffffffffffff			ffffffff-ffff-ffff-ffff-ffffffffffff		{}	0000	\\x	2001:db8::/32		7	very large		2001:db8::1/64	-1 days +23:59:59	[]	$	00:00:00:00:00:00	00:00:00:00:00:00:00:00	-$0.01	0	pg_type	simple	'c'		[2024-02-29,)	{}	[1,)	{}	[1,)	{}	[0.5,)	{}	["1970-01-01 00:00:00",)	{}	["1970-01-01 00:00:00+00",)	{}
3	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: pairs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.pairs (everything_id, name) FROM stdin;
1	a
1	b
\.


--
-- Name: everything_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_id_seq', 3, true);


--
-- Name: everything everything_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything
    ADD CONSTRAINT everything_pkey PRIMARY KEY (id);


--
-- Name: pairs pairs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_pkey PRIMARY KEY (everything_id, name);


--
-- Name: pairs pairs_everything_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_everything_id_fkey FOREIGN KEY (everything_id) REFERENCES public.everything(id);


--
-- PostgreSQL database dump complete
--


