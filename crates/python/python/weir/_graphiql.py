"""The page GraphiQL, which a browser gets that opens the address of an app. Its parts come from a CDN, with versions that do not move."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>GraphiQL</title>
<style>body { margin: 0 } #graphiql { height: 100dvh }</style>
<link rel="stylesheet" href="https://esm.sh/graphiql@5.4.0/dist/style.css">
<script type="importmap">
{"imports": {
  "react": "https://esm.sh/react@19.3.1",
  "react/": "https://esm.sh/react@19.3.1/",
  "react-dom": "https://esm.sh/react-dom@19.3.1",
  "react-dom/": "https://esm.sh/react-dom@19.3.1/",
  "graphiql": "https://esm.sh/graphiql@5.4.0?standalone&external=react,react-dom,@graphiql/react,graphql",
  "graphiql/": "https://esm.sh/graphiql@5.4.0/",
  "@graphiql/react": "https://esm.sh/@graphiql/react@0.39.1?standalone&external=react,react-dom,graphql,@emotion/is-prop-valid",
  "@graphiql/toolkit": "https://esm.sh/@graphiql/toolkit@0.12.1?standalone&external=graphql",
  "@emotion/is-prop-valid": "data:text/javascript,",
  "graphql": "https://esm.sh/graphql@16.15.0",
  "graphql-ws": "https://esm.sh/graphql-ws@6.4.2"
}}
</script>
<script type="module">
import React from 'react';
import ReactDOM from 'react-dom/client';
import { GraphiQL } from 'graphiql';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { createClient } from 'graphql-ws';
import 'graphiql/setup-workers/esm.sh';

const url = location.origin + location.pathname;
const wsClient = createClient({ url: url.replace(/^http/, 'ws'), lazy: true });
const fetcher = createGraphiQLFetcher({ url, wsClient });
ReactDOM.createRoot(document.getElementById('graphiql')).render(React.createElement(GraphiQL, { fetcher }));
</script>
</head>
<body><div id="graphiql">Loading…</div></body>
</html>
"""
