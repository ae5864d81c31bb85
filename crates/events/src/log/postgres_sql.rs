//! Statements on the log of PostgreSQL. Times without a zone are in UTC.

/// Locks pending events and returns them: of each trigger as many as there is room for, first tries in their order, and a quarter of
/// that of those that are due again, so that neither keeps the others waiting; of all triggers by turns. `$1` names, `$2` room, `$3`
/// whether ordered, `$4` owner, `$5` number of all.
pub(super) const FETCH: &str = r#"
WITH rooms AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::int[], $3::boolean[]) AS r(name, room, is_ordered)),
first AS MATERIALIZED (
  SELECT e.id, e.weir_seq, r.name FROM rooms r CROSS JOIN LATERAL (
    SELECT l.id, l.weir_seq FROM hdb_catalog.event_log l
    WHERE l.trigger_name = r.name AND NOT l.delivered AND NOT l.error AND NOT l.archived AND l.locked IS NULL
      AND l.next_retry_at IS NULL
      AND (NOT r.is_ordered OR l.weir_key IS NULL OR NOT EXISTS (SELECT FROM hdb_catalog.event_log o
        WHERE o.trigger_name = l.trigger_name AND o.weir_key = l.weir_key AND o.weir_seq < l.weir_seq
          AND NOT o.delivered AND NOT o.error AND NOT o.archived))
    ORDER BY l.weir_seq LIMIT r.room FOR UPDATE SKIP LOCKED) AS e),
again AS MATERIALIZED (
  SELECT e.id, e.weir_seq, r.name FROM rooms r CROSS JOIN LATERAL (
    SELECT l.id, l.weir_seq FROM hdb_catalog.event_log l
    WHERE l.trigger_name = r.name AND NOT l.delivered AND NOT l.error AND NOT l.archived AND l.locked IS NULL
      AND l.next_retry_at <= now() AT TIME ZONE 'UTC'
      AND (NOT r.is_ordered OR l.weir_key IS NULL OR NOT EXISTS (SELECT FROM hdb_catalog.event_log o
        WHERE o.trigger_name = l.trigger_name AND o.weir_key = l.weir_key AND o.weir_seq < l.weir_seq
          AND NOT o.delivered AND NOT o.error AND NOT o.archived))
    ORDER BY l.next_retry_at LIMIT r.room / 4 + 1 FOR UPDATE SKIP LOCKED) AS e)
UPDATE hdb_catalog.event_log e SET locked = now(), weir_owner = $4::bigint
FROM (SELECT b.id FROM (SELECT a.id, a.weir_seq, row_number() OVER (PARTITION BY a.name ORDER BY a.kind, a.weir_seq) AS place
    FROM (SELECT 0 AS kind, * FROM first UNION ALL SELECT 1, * FROM again) AS a) AS b
  ORDER BY b.place, b.weir_seq LIMIT $5::int) AS x
WHERE e.id = x.id
RETURNING e.id, e.weir_seq::text, e.schema_name, e.table_name, e.trigger_name, e.payload::text,
  to_json(coalesce(e.created_at, now() AT TIME ZONE 'UTC')) #>> '{}', e.tries::text"#;

/// Records outcomes: `$1` ids, `$2` states, `$3` pauses in seconds, `$4` tries, `$5` triggers, `$6` whether a row is written, `$7`
/// statuses, `$8` requests, `$9` responses, `$10` owner. An event that another server has in work meanwhile can only become delivered.
pub(super) const RECORD: &str = r#"
WITH done AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::text[], $3::float8[], $4::int[], $5::text[], $6::boolean[], $7::int[],
    $8::text[], $9::text[]) AS d(id, state, pause, tries, trigger_name, has_row, status, request, response)),
logs AS (
  INSERT INTO hdb_catalog.event_invocation_logs (trigger_name, event_id, status, request, response, created_at)
  SELECT trigger_name, id, status, request::json, response::json, clock_timestamp() AT TIME ZONE 'UTC' FROM done WHERE has_row)
UPDATE hdb_catalog.event_log e SET delivered = d.state = 'delivered', error = d.state = 'failed', tries = d.tries, locked = NULL,
  weir_owner = NULL, next_retry_at = CASE WHEN d.state = 'retry'
    THEN now() AT TIME ZONE 'UTC' + make_interval(secs => d.pause) END
FROM done d WHERE e.id = d.id AND (d.state = 'delivered' OR e.weir_owner = $10::bigint)"#;

/// Says that the server `$1` is alive.
pub(super) const SAY_ALIVE: &str = "INSERT INTO hdb_catalog.weir_owners (id, seen) VALUES ($1::bigint, now()) \
 ON CONFLICT (id) DO UPDATE SET seen = excluded.seen";

/// Frees events of servers that are gone, and locks of any server that are older than 30 minutes. `$1` own server.
pub(super) const RECLAIM: &str = r#"
UPDATE hdb_catalog.event_log e SET locked = NULL, weir_owner = NULL
WHERE NOT e.delivered AND NOT e.error AND NOT e.archived AND e.locked IS NOT NULL
  AND (e.locked < now() - interval '30 minutes' OR (e.weir_owner <> $1::bigint AND NOT EXISTS (
    SELECT FROM hdb_catalog.weir_owners o WHERE o.id = e.weir_owner AND o.seen > now() - interval '10 seconds')))"#;

/// Forgets servers that have been gone for long.
pub(super) const FORGET: &str = "DELETE FROM hdb_catalog.weir_owners WHERE seen < now() - interval '1 hour'";

/// Frees the events of the server `$1`.
pub(super) const RELEASE: &str = "UPDATE hdb_catalog.event_log SET locked = NULL, weir_owner = NULL \
 WHERE weir_owner = $1::bigint AND NOT delivered AND NOT error AND NOT archived AND locked IS NOT NULL";

/// Ends the life of the server `$1`.
pub(super) const LEAVE: &str = "DELETE FROM hdb_catalog.weir_owners WHERE id = $1::bigint";

/// Makes the event `$1` pending again, unless it is in work: says whether it is there, and whether it was changed.
pub(super) const REDELIVER: &str = r#"
WITH changed AS (UPDATE hdb_catalog.event_log SET delivered = false, error = false, tries = 0, next_retry_at = NULL
  WHERE id = $1::text AND (locked IS NULL OR locked < now() - interval '30 minutes') RETURNING id)
SELECT EXISTS (SELECT FROM hdb_catalog.event_log WHERE id = $1::text)::text, EXISTS (SELECT FROM changed)::text"#;

/// Inserts an event: `$1` schema, `$2` table, `$3` trigger, `$4` payload.
pub(super) const INSERT: &str = "INSERT INTO hdb_catalog.event_log (schema_name, table_name, trigger_name, payload, created_at) \
 VALUES ($1::text, $2::text, $3::text, $4::jsonb, clock_timestamp() AT TIME ZONE 'UTC') RETURNING id";

/// Archives the events of the trigger `$1` that are not done.
pub(super) const ARCHIVE: &str =
    "UPDATE hdb_catalog.event_log SET archived = true WHERE trigger_name = $1::text AND NOT archived";

/// Events of the trigger `$1` in the state `$2`, newest first: `$3` rows behind `$4`. The log of another server has no `weir_seq`, which
/// then is the one outside.
pub(super) const LIST: &str = r#"
SELECT coalesce(json_agg(r), '[]')::text FROM (SELECT NULL::bigint AS weir_seq) AS absent CROSS JOIN LATERAL (
  SELECT id, schema_name, table_name, trigger_name, payload, delivered, error, tries, created_at, locked, next_retry_at, archived
  FROM hdb_catalog.event_log WHERE trigger_name = $1::text AND CASE $2::text WHEN 'pending' THEN NOT delivered AND NOT error AND NOT archived
    WHEN 'processed' THEN (delivered OR error) AND NOT archived WHEN 'failed' THEN error AND NOT archived ELSE true END
  ORDER BY created_at DESC, weir_seq DESC LIMIT $3::int OFFSET $4::int) AS r"#;

/// Calls of the trigger `$1`, newest first: `$2` rows behind `$3`.
pub(super) const LIST_CALLS: &str = r#"
SELECT coalesce(json_agg(r), '[]')::text FROM (
  SELECT id, trigger_name, event_id, status AS http_status, request, response, created_at
  FROM hdb_catalog.event_invocation_logs WHERE trigger_name = $1::text ORDER BY created_at DESC LIMIT $2::int OFFSET $3::int) AS r"#;

/// The event `$1`, as JSON; no row if it is not there.
pub(super) const EVENT: &str = r#"
SELECT row_to_json(r)::text FROM (
  SELECT id, schema_name, table_name, trigger_name, payload, delivered, error, tries, created_at, locked, next_retry_at, archived
  FROM hdb_catalog.event_log WHERE id = $1::text) AS r"#;

/// Calls of the event `$1`, newest first: `$2` rows behind `$3`.
pub(super) const CALLS: &str = r#"
SELECT coalesce(json_agg(r), '[]')::text FROM (
  SELECT id, trigger_name, event_id, status AS http_status, request, response, created_at
  FROM hdb_catalog.event_invocation_logs WHERE event_id = $1::text ORDER BY created_at DESC LIMIT $2::int OFFSET $3::int) AS r"#;

/// Removes at most `$3` old events of the trigger `$1` that are done, older than `$2` hours, and with `$4` the rows of their calls;
/// says how many of both.
pub(super) const CLEAN: &str = r#"
WITH old AS MATERIALIZED (SELECT id FROM hdb_catalog.event_log WHERE trigger_name = $1::text AND (delivered OR error)
  AND locked IS NULL AND created_at < now() AT TIME ZONE 'UTC' - make_interval(hours => $2::int) LIMIT $3::int FOR UPDATE SKIP LOCKED),
calls AS (DELETE FROM hdb_catalog.event_invocation_logs WHERE $4::boolean AND event_id IN (SELECT id FROM old) RETURNING id),
events AS (DELETE FROM hdb_catalog.event_log WHERE id IN (SELECT id FROM old) RETURNING id)
SELECT (SELECT count(*) FROM events)::text, (SELECT count(*) FROM calls)::text"#;

/// Notes a cleanup of the trigger `$1` at the minute `$2`; no row if another server has noted it. Cleanups whose server is gone are
/// dead, and notes older than 30 days are removed.
pub(super) const BEGIN_CLEANUP: &str = r#"
WITH lost AS (UPDATE hdb_catalog.hdb_event_log_cleanups SET status = 'dead' WHERE trigger_name = $1::text AND status = 'scheduled'
  AND scheduled_at < $2::timestamp - interval '2 hours' AND scheduled_at >= $2::timestamp - interval '30 days'),
old AS (DELETE FROM hdb_catalog.hdb_event_log_cleanups WHERE trigger_name = $1::text
  AND scheduled_at < $2::timestamp - interval '30 days')
INSERT INTO hdb_catalog.hdb_event_log_cleanups (trigger_name, scheduled_at, status)
VALUES ($1::text, $2::timestamp, 'scheduled') ON CONFLICT DO NOTHING RETURNING id"#;

/// Notes the end of the cleanup `$1`: `$2` events and `$3` calls were removed, `$4` is its state.
pub(super) const END_CLEANUP: &str = "UPDATE hdb_catalog.hdb_event_log_cleanups SET status = $4::text, deleted_event_logs = $2::int, \
 deleted_event_invocation_logs = $3::int WHERE id = $1::text";
