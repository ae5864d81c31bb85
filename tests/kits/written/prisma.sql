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
-- Name: Color; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public."Color" AS ENUM (
    'red',
    'dark_blue'
);


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: Everything; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Everything" (
    id integer NOT NULL,
    "any_String" text,
    "list_String" text[],
    "any_Boolean" boolean,
    "list_Boolean" boolean[],
    "any_Int" integer,
    "list_Int" integer[],
    "any_BigInt" bigint,
    "list_BigInt" bigint[],
    "any_Float" double precision,
    "list_Float" double precision[],
    "any_Decimal" numeric(65,30),
    "list_Decimal" numeric(65,30)[],
    "any_DateTime" timestamp(3) without time zone,
    "list_DateTime" timestamp(3) without time zone[],
    "any_Json" jsonb,
    "list_Json" jsonb[],
    "any_Bytes" bytea,
    "list_Bytes" bytea[],
    "db_SmallInt" smallint,
    "db_Integer" integer,
    "db_BigInt" bigint,
    "db_Decimal" numeric(20,6),
    "db_Money" money,
    "db_Inet" inet,
    "db_Oid" oid,
    "db_Citext" public.citext,
    "db_Real" real,
    "db_DoublePrecision" double precision,
    "db_VarChar" character varying(40),
    "db_Char" character(6),
    "db_Text" text,
    "db_ByteA" bytea,
    "db_Timestamp" timestamp(6) without time zone,
    "db_Timestamptz" timestamp(6) with time zone,
    "db_Date" date,
    "db_Time" time(6) without time zone,
    "db_Timetz" time(6) with time zone,
    "db_Boolean" boolean,
    "db_Bit" bit(4),
    "db_VarBit" bit varying(8),
    "db_Uuid" uuid,
    "db_Xml" xml,
    "db_Json" json,
    "db_JsonB" jsonb,
    color public."Color",
    email text
);


--
-- Name: Everything_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public."Everything_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: Everything_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public."Everything_id_seq" OWNED BY public."Everything".id;


--
-- Name: Pair; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."Pair" (
    "everythingId" integer NOT NULL,
    name text NOT NULL,
    note text
);


--
-- Name: Everything id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Everything" ALTER COLUMN id SET DEFAULT nextval('public."Everything_id_seq"'::regclass);


--
-- Data for Name: Everything; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public."Everything" (id, "any_String", "list_String", "any_Boolean", "list_Boolean", "any_Int", "list_Int", "any_BigInt", "list_BigInt", "any_Float", "list_Float", "any_Decimal", "list_Decimal", "any_DateTime", "list_DateTime", "any_Json", "list_Json", "any_Bytes", "list_Bytes", "db_SmallInt", "db_Integer", "db_BigInt", "db_Decimal", "db_Money", "db_Inet", "db_Oid", "db_Citext", "db_Real", "db_DoublePrecision", "db_VarChar", "db_Char", "db_Text", "db_ByteA", "db_Timestamp", "db_Timestamptz", "db_Date", "db_Time", "db_Timetz", "db_Boolean", "db_Bit", "db_VarBit", "db_Uuid", "db_Xml", "db_Json", "db_JsonB", color, email) FROM stdin;
1	Straße, 東京	{"Straße, 東京"}	t	{t}	2147483647	{2147483647}	9223372036854775807	{9223372036854775807}	0.30000000000000004	{0.3}	1234.500000000000000000000000000000	{1234.500000000000000000000000000000}	2024-02-29 23:59:59.123	{"2024-02-29 23:59:59.123"}	{"a": [1, 2.5, null], "b": {"c": true}}	{"{\\"a\\": [1, 2.5, null], \\"b\\": {\\"c\\": true}}"}	\\x00ff41	{"\\\\x00ff41"}	-32768	2147483647	9223372036854775807	12345678901234.123456	$1,234.50	10.0.0.1	2147483647	Straße, 東京	0.5	0.30000000000000004	Straße, 東京	sixsix	Straße, 東京	\\x00ff41	2024-02-29 23:59:59.123	2024-02-29 23:59:59.123+00	2024-02-29	12:30:15.25	12:30:15.25+00	t	1010	101	0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001	<a>1</a>	{"a":[1,2.5,null],"b":{"c":true}}	{"a": [1, 2.5, null], "b": {"c": true}}	red	\N
2		{""}	f	{f}	-1	{-1}	-1	{-1}	1e+300	{1e+300}	-0.250000000000000000000000000000	{-0.250000000000000000000000000000}	1970-01-01 00:00:00	{"1970-01-01 00:00:00"}	[]	{[]}	\\x	{"\\\\x"}	0	-1	-1	-0.000001	-$0.01	2001:db8::1/64	0		-0.25	1e+300		123456		\\x	1970-01-01 00:00:00	1970-01-01 00:00:00+00	1970-01-01	00:00:00	00:00:00+00	f	0000	1	00000000-0000-0000-0000-000000000000	<b/>	[]	[]	dark_blue	\N
3	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: Pair; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public."Pair" ("everythingId", name, note) FROM stdin;
1	a	x
1	b	\N
\.


--
-- Name: Everything_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public."Everything_id_seq"', 3, true);


--
-- Name: Everything Everything_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Everything"
    ADD CONSTRAINT "Everything_pkey" PRIMARY KEY (id);


--
-- Name: Pair Pair_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Pair"
    ADD CONSTRAINT "Pair_pkey" PRIMARY KEY ("everythingId", name);


--
-- Name: Everything_email_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX "Everything_email_key" ON public."Everything" USING btree (email);


--
-- Name: Pair Pair_everythingId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."Pair"
    ADD CONSTRAINT "Pair_everythingId_fkey" FOREIGN KEY ("everythingId") REFERENCES public."Everything"(id) ON UPDATE CASCADE ON DELETE RESTRICT;


--
-- PostgreSQL database dump complete
--


