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
-- Name: cube; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS cube WITH SCHEMA public;


--
-- Name: EXTENSION cube; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION cube IS 'data type for multidimensional cubes';


--
-- Name: hstore; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;


--
-- Name: EXTENSION hstore; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION hstore IS 'data type for storing sets of (key, value) pairs';


--
-- Name: ltree; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS ltree WITH SCHEMA public;


--
-- Name: EXTENSION ltree; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION ltree IS 'data type for hierarchical tree-like structures';


--
-- Name: color; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.color AS ENUM (
    'red',
    'dark blue'
);


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: everything; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.everything (
    id integer NOT NULL,
    "int" integer,
    int2 smallint,
    int4 integer,
    int8 bigint,
    "smallint" smallint,
    "integer" integer,
    "bigint" bigint,
    "decimal" numeric(20,6),
    "numeric" numeric(20,6),
    "real" real,
    "float" double precision,
    float4 real,
    float8 double precision,
    double_precision double precision,
    money money,
    character_varying character varying,
    "varchar" character varying(40),
    "character" character(6),
    "char" character(6),
    text text,
    citext public.citext,
    hstore public.hstore,
    bytea bytea,
    "bit" bit(4),
    varbit bit varying,
    bit_varying bit varying,
    timetz time with time zone,
    timestamptz timestamp with time zone,
    "timestamp" timestamp without time zone,
    timestamp_without_time_zone timestamp without time zone,
    timestamp_with_time_zone timestamp with time zone,
    date date,
    "time" time without time zone,
    time_without_time_zone time without time zone,
    time_with_time_zone time with time zone,
    "interval" interval,
    bool boolean,
    "boolean" boolean,
    enum public.color,
    point point,
    line line,
    lseg lseg,
    box box,
    path path,
    polygon polygon,
    circle circle,
    cidr cidr,
    inet inet,
    macaddr macaddr,
    macaddr8 macaddr8,
    tsvector tsvector,
    tsquery tsquery,
    uuid uuid,
    xml xml,
    json json,
    jsonb jsonb,
    jsonpath jsonpath,
    int4range int4range,
    int8range int8range,
    numrange numrange,
    tsrange tsrange,
    tstzrange tstzrange,
    daterange daterange,
    int4multirange int4multirange,
    int8multirange int8multirange,
    nummultirange nummultirange,
    tsmultirange tsmultirange,
    tstzmultirange tstzmultirange,
    datemultirange datemultirange,
    cube public.cube,
    ltree public.ltree,
    list integer[],
    simple_list text,
    simple_document text,
    created timestamp with time zone DEFAULT now() NOT NULL,
    version integer NOT NULL
);


--
-- Name: everything_friends_everything; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.everything_friends_everything (
    "everythingId_1" integer NOT NULL,
    "everythingId_2" integer NOT NULL
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
    name character varying NOT NULL,
    note character varying
);


--
-- Name: everything id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything ALTER COLUMN id SET DEFAULT nextval('public.everything_id_seq'::regclass);


--
-- Data for Name: everything; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.everything (id, "int", int2, int4, int8, "smallint", "integer", "bigint", "decimal", "numeric", "real", "float", float4, float8, double_precision, money, character_varying, "varchar", "character", "char", text, citext, hstore, bytea, "bit", varbit, bit_varying, timetz, timestamptz, "timestamp", timestamp_without_time_zone, timestamp_with_time_zone, date, "time", time_without_time_zone, time_with_time_zone, "interval", bool, "boolean", enum, point, line, lseg, box, path, polygon, circle, cidr, inet, macaddr, macaddr8, tsvector, tsquery, uuid, xml, json, jsonb, jsonpath, int4range, int8range, numrange, tsrange, tstzrange, daterange, int4multirange, int8multirange, nummultirange, tsmultirange, tstzmultirange, datemultirange, cube, ltree, list, simple_list, simple_document, created, version) FROM stdin;
1	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	2026-11-30 20:08:34.72021+00	1
2	2147483647	-32768	2147483647	9223372036854775807	-32768	2147483647	9223372036854775807	12345678901234.123456	12345678901234.123456	0.5	0.30000000000000004	0.5	0.30000000000000004	0.30000000000000004	$1,234.50	Straße, 東京	Straße, 東京	sixsix	sixsix	Straße, 東京	Straße, 東京	"a"=>"1", "b"=>NULL	\\x00ff41	1010	101	101	12:30:15+02	2024-02-29 23:59:59.123+00	2024-02-29 23:59:59.123	2024-02-29 23:59:59.123	2024-02-29 23:59:59.123+00	2024-02-29	12:30:15	12:30:15	12:30:15+02	3 days 00:00:00.000005	t	f	red	(1,2.5)	{1,2,3}	[(1,2),(3,4)]	(3,4),(1,2)	((1,2),(3,4))	((1,2),(3,4),(5,0))	<(1,2),3>	10.0.0.0/8	10.0.0.1	08:00:2b:01:02:03	08:00:2b:01:02:03:04:05	'a':1 'b':2	'a' & 'b'	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	<a>1</a>	{"a":[1,2.5,null],"b":{"c":true}}	{"a": [1, 2.5, null], "b": {"c": true}}	$."a"[*]	[1,5)	[1,5000000000)	[0.5,1.25)	["2024-02-29 00:00:00","2024-03-01 00:00:00")	["2024-02-29 00:00:00+00",)	[2024-02-29,2024-03-03)	{[1,5)}	{[1,5000000000)}	{[0.5,1.25)}	{["2024-02-29 00:00:00","2024-03-01 00:00:00")}	{["2024-02-29 00:00:00+00",)}	{[2024-02-29,2024-03-03)}	(1, 2)	a.b_c.D	{1,2}	1,2	[1,2]	2026-11-30 20:08:34.732031+00	1
3	-1	0	-1	-1	0	-1	-1	-0.000001	-0.000001	-1e+30	1e+300	-1e+30	1e+300	1e+300	-$0.01			123456	123456				\\x	0000			00:00:00+00	1970-01-01 00:00:00+00	1970-01-01 00:00:00	1970-01-01 00:00:00	1970-01-01 00:00:00+00	1970-01-01	00:00:00	00:00:00	00:00:00+00	-1 years	f	t	dark blue	(0,-1)	{0,1,-0.5}	[(0,0),(0,1)]	(1,1),(0,0)	[(0,0),(0,1)]	((0,0),(0,1),(1,1))	<(0,0),0.5>	2001:db8::/32	2001:db8::1/64	00:00:00:00:00:00	00:00:00:00:00:00:00:00		'c'	00000000-0000-0000-0000-000000000000	<b/>	[]	[]	$	empty	empty	empty	empty	empty	empty	{}	{}	{}	{}	{}	{}	(0)		{7}	7	[7]	2026-11-30 20:08:34.745576+00	1
\.


--
-- Data for Name: everything_friends_everything; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.everything_friends_everything ("everythingId_1", "everythingId_2") FROM stdin;
2	1
\.


--
-- Data for Name: pairs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.pairs (everything_id, name, note) FROM stdin;
1	a	x
1	b	\N
\.


--
-- Name: everything_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.everything_id_seq', 3, true);


--
-- Name: pairs PK_c3868522d983658d75b47eba531; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT "PK_c3868522d983658d75b47eba531" PRIMARY KEY (everything_id, name);


--
-- Name: everything_friends_everything PK_d06ad7134941869b36dfbd2c255; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything_friends_everything
    ADD CONSTRAINT "PK_d06ad7134941869b36dfbd2c255" PRIMARY KEY ("everythingId_1", "everythingId_2");


--
-- Name: everything PK_ea6ebbfe3a75f97434e439bd50c; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything
    ADD CONSTRAINT "PK_ea6ebbfe3a75f97434e439bd50c" PRIMARY KEY (id);


--
-- Name: pairs UQ_f45744f1b6deaedff7ba82f3b05; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT "UQ_f45744f1b6deaedff7ba82f3b05" UNIQUE (note);


--
-- Name: IDX_5b79c722dd4d0bdb96dc947d8e; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "IDX_5b79c722dd4d0bdb96dc947d8e" ON public.everything_friends_everything USING btree ("everythingId_2");


--
-- Name: IDX_94ffc9684fed649393d43c3cac; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "IDX_94ffc9684fed649393d43c3cac" ON public.everything_friends_everything USING btree ("everythingId_1");


--
-- Name: everything_friends_everything FK_5b79c722dd4d0bdb96dc947d8e8; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything_friends_everything
    ADD CONSTRAINT "FK_5b79c722dd4d0bdb96dc947d8e8" FOREIGN KEY ("everythingId_2") REFERENCES public.everything(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: everything_friends_everything FK_94ffc9684fed649393d43c3cacc; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.everything_friends_everything
    ADD CONSTRAINT "FK_94ffc9684fed649393d43c3cacc" FOREIGN KEY ("everythingId_1") REFERENCES public.everything(id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: pairs FK_f0a99be9073cc880cdd7a679378; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT "FK_f0a99be9073cc880cdd7a679378" FOREIGN KEY (everything_id) REFERENCES public.everything(id);


--
-- PostgreSQL database dump complete
--


