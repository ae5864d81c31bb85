//! The binary as people have it: processes, sockets, databases, services.

#[path = "../../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../../../hasura/tests/cluster_kit/mod.rs"]
mod cluster_kit;
#[path = "../../../http/tests/grpc_kit/mod.rs"]
mod grpc_kit;
#[path = "../../../hasura/tests/hasura_kit/mod.rs"]
mod hasura_kit;
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../../../hasura/tests/postgres_kit/mod.rs"]
mod postgres_kit;
mod redis_kit;
#[path = "../../../http/tests/redis_server_kit/mod.rs"]
mod redis_server_kit;
#[path = "../remote_kit/mod.rs"]
mod remote_kit;
#[path = "../../../engine/tests/service_kit/mod.rs"]
mod service_kit;
#[path = "../shelf_kit/mod.rs"]
mod shelf_kit;
#[path = "../support/mod.rs"]
mod support;
#[path = "../upstream_kit/mod.rs"]
mod upstream_kit;
#[path = "../../../http/tests/wire_kit/mod.rs"]
mod wire_kit;

mod across_sites;
mod actions;
mod actions_async;
mod actions_async_faults;
mod actions_commands;
mod actions_faults;
mod actions_relations;
mod api_limits;
mod auth;
mod browsers;
mod catalogs;
mod commands;
mod committed;
mod compose;
mod connectors;
mod consistency;
mod console_page;
mod costs;
mod custom;
mod deadlines;
mod descriptors;
mod documented_sdl;
mod events;
mod events_cleanup;
mod events_kit;
mod events_ledger;
mod events_not_made;
mod events_traces;
mod exports;
mod faults;
mod federation;
mod fleet;
mod hasura_cli;
mod hasura_folder;
mod http;
mod http2;
mod increments;
mod library;
mod lifetimes;
mod live;
mod live_causes;
mod live_decoding;
mod live_native;
mod live_redis;
mod live_services;
mod live_slow;
mod load;
mod mappers;
mod mcp;
mod mcp_rates;
mod mcp_stdio;
mod metadata;
mod metadata_api;
mod metadata_edits;
mod metadata_renames;
mod metadata_schemas;
mod metadata_tools;
mod mirror;
mod namespaces;
mod native;
mod native_auth;
mod native_stream;
mod observability;
mod operations;
mod operator_pages;
mod oracle;
mod overload;
mod persisted;
mod persisted_automatic;
mod postgres;
mod postgres_processes;
mod projects;
mod rate_limits;
mod rate_limits_redis;
mod read_only;
mod relay;
mod remote_changes;
mod remote_errors;
mod remote_relationships;
mod remote_roles;
mod remote_schemas;
mod remote_schemas_related;
mod remote_subscriptions;
#[path = "../../../transport/tests/requests_kit/mod.rs"]
mod requests_kit;
mod reserved_streams;
mod rest_wall;
mod rights_beside_others;
mod rights_while_down;
mod rolling;
mod row_reasons;
mod schedules;
mod second_signals;
mod server_callers;
mod servers;
mod service;
mod services;
mod services_errors;
mod services_settings;
mod session_and_natives;
mod sockets;
mod sockets_http2;
mod sqlite_commands;
mod sqlite_neighbours;
mod store;
mod storm;
mod streamed_rows;
mod tenants;
mod tls;
mod touched;
mod traces;
mod trials;
mod unread;
mod upstreams;
mod usage;
