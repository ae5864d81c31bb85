//! Rates of several servers behind one Redis, and while it is lost.

use crate::persisted::{USER, serve};
use crate::redis_kit::Redis;
use crate::support::{Answer, Folder, Weir, until};

const ONE: &str = r#"{"query":"{ pet_by_pk(id: 1) { name } }"}"#;
const RATES: &str = "rates: [{name: all, requests: 4, window_s: 86400, by: [\"claim:x-hasura-user-id\"]}, \
    {name: wide, requests: 1000, window_s: 86400}]";

/// A server of two with these rates, once it is connected to Redis.
fn serve_shared(redis: &Redis) -> Weir {
    serve_rates(redis, RATES)
}

fn serve_rates(redis: &Redis, rates: &str) -> Weir {
    let limits = format!("limits: {{rates_in_redis: true, rate_processes: 2, {rates}}}");
    let cache = format!(
        "cache: {{redis: 'redis://127.0.0.1:{}', namespace: rates, redis_ms_max: 10000}}",
        redis.port
    );
    let weir = serve(Folder::new(), &format!("{{}}\n{limits}\n{cache}"));
    until("Redis is there", || metric(&weir, "weir_cache_redis_connected") == 1);
    weir
}

fn metric(weir: &Weir, name: &str) -> u64 {
    let metrics = weir.get("/metrics", &USER[..1]);
    let line = metrics.text().lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn post(weir: &Weir, user: &str) -> Answer {
    weir.post("/graphql", &[USER[0], USER[1], ("x-hasura-user-id", user)], ONE.as_bytes())
}

#[test]
fn servers_behind_one_redis_count_together() {
    let redis = Redis::start();
    let servers = [serve_shared(&redis), serve_shared(&redis)];
    let mut policies = Vec::new();
    for (turn, left) in [3, 2, 1, 0].into_iter().enumerate() {
        let answer = post(&servers[turn % 2], "1");
        assert_eq!(answer.status, 200, "{answer:?}");
        let fields = answer.header("ratelimit").unwrap_or_default();
        assert!(fields.starts_with(&format!("\"all\";r={left};t=")), "{fields}");
        policies.push(answer.header("ratelimit-policy").map(str::to_owned));
    }
    assert!(policies.windows(2).all(|it| it[0] == it[1]), "{policies:?}");
    for weir in &servers {
        let answer = post(weir, "1");
        assert_eq!((answer.status, answer.code().as_str()), (429, "LIMIT_RATE"));
        let seconds: u64 = answer.header("retry-after").and_then(|it| it.parse().ok()).unwrap_or(0);
        assert!((21_000..=21_600).contains(&seconds), "{seconds}");
        assert_eq!(metric(weir, "weir_rate_local_total"), 0);
    }
    // Refusals by one rate take nothing of another, and another user has a bucket of its own.
    let answer = post(&servers[1], "2");
    assert!(answer.header("ratelimit").is_some_and(|it| it.contains("\"wide\";r=995;")), "{answer:?}");
    // A value that is no bucket counts as an error, not as a freed caller: the process decides by its share.
    assert!(redis.overwrite("rates:b*", "no time") > 0);
    assert_eq!([post(&servers[0], "1").status, post(&servers[0], "1").status], [200, 200]);
    assert_eq!(post(&servers[0], "1").status, 429);
}

#[test]
fn a_raised_rate_holds_for_callers_that_the_lower_one_refuses() {
    let redis = Redis::start();
    let rate = |requests: u32, window_s: u32| {
        format!(
            "rates: [{{name: all, requests: {requests}, window_s: {window_s}, by: [\"claim:x-hasura-user-id\"]}}]"
        )
    };
    let before = serve_rates(&redis, &rate(1, 86_400));
    assert_eq!([post(&before, "1").status, post(&before, "1").status], [200, 429]);
    let after = serve_rates(&redis, &rate(2, 2));
    // The refusals between must not keep the bucket empty.
    until("the caller is served", || post(&after, "1").status == 200);
    assert_eq!(metric(&after, "weir_rate_local_total"), 0);
}

#[test]
fn without_redis_each_server_allows_its_share() {
    let redis = Redis::start();
    let servers = [serve_shared(&redis), serve_shared(&redis)];
    assert_eq!(post(&servers[0], "1").status, 200);
    drop(redis);
    for weir in &servers {
        let statuses: Vec<u16> = (0..4).map(|_| post(weir, "1").status).collect();
        assert_eq!(statuses, [200, 200, 429, 429]);
        assert!(metric(weir, "weir_rate_local_total") >= 4);
    }
}
