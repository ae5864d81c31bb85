//! The second level when it answers with anything: what no Redis says, what an operator did wrong, what hangs half-way.

use super::kit::{Kit, PATIENCE, ToldUpstream, observation, says, settle};
use super::port_kit::free_port;
use super::redis_kit::{Redis, counts, settings, until};
use super::second::{fetch_tagged, grows_old, serves, upstream};
use crate::cache::Clock;
use crate::cache::Outcome::{HitRemote, Miss};
use crate::cache::RemoteSettings;
use redis::Client;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Timeout of a server that hangs.
const BUDGET: Duration = Duration::from_millis(10);

/// A server that greets as a Redis does, and answers looks with these bytes; no bytes end the connection.
fn pretender(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || converse(client, answer));
        }
    });
    port
}

fn converse(client: TcpStream, to_looks: &[u8]) -> Option<()> {
    let mut writer = client.try_clone().ok()?;
    let mut reader = BufReader::new(client);
    loop {
        let command = command(&mut reader)?;
        let answer = match &*command[0].to_ascii_uppercase() {
            b"MGET" if to_looks.is_empty() => return None,
            b"MGET" => to_looks.to_vec(),
            b"GET" => b"$-1\r\n".to_vec(),
            b"DEL" | b"PUBLISH" => b":1\r\n".to_vec(),
            b"PING" => b"*2\r\n$4\r\npong\r\n$0\r\n\r\n".to_vec(),
            b"SUBSCRIBE" => {
                let channel = String::from_utf8(command[1].clone()).unwrap();
                format!("*3\r\n$9\r\nsubscribe\r\n${}\r\n{channel}\r\n:1\r\n", channel.len()).into()
            }
            _ => b"+OK\r\n".to_vec(),
        };
        writer.write_all(&answer).ok()?;
    }
}

/// Reads a command; nothing at the end of the connection.
fn command(reader: &mut BufReader<TcpStream>) -> Option<Vec<Vec<u8>>> {
    let number = |reader: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        line.trim_end().get(1..)?.parse::<usize>().ok()
    };
    let count = number(reader)?;
    (0..count)
        .map(|_| {
            let mut word = vec![0; number(reader)? + 2];
            reader.read_exact(&mut word).ok()?;
            word.truncate(word.len() - 2);
            Some(word)
        })
        .collect()
}

fn hasty(address: &str) -> RemoteSettings {
    RemoteSettings { budget: BUDGET, patience: BUDGET, ..settings(address) }
}

#[tokio::test]
async fn answers_that_no_redis_gives_are_misses() {
    let answers: [&'static [u8]; 17] = [
        b"",
        b"*-1\r\n",
        b"*0\r\n",
        b"$-1\r\n",
        b"*1\r\n$3\r\nabc\r\n",
        b"*9\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n",
        b":7\r\n",
        b"+OK\r\n",
        b"$2\r\nhi\r\n",
        b"-ERR not today\r\n",
        b"-MOVED 7 127.0.0.1:1\r\n",
        b"*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
        b"*4\r\n*1\r\n$1\r\nx\r\n$-1\r\n$-1\r\n$-1\r\n",
        b"*1000000000\r\n$1\r\na\r\n",
        b"$500000000\r\nab",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0\xff\xfe",
    ];
    for answer in answers {
        let address = format!("redis://127.0.0.1:{}", pretender(answer));
        let one = Kit::with(Clock::new_simulated(), Some(hasty(&address)));
        until(&one, |it| it.connected).await;
        serves(&one, 0..1).await;
        assert_eq!(fetch_tagged(&one, &upstream("1")).await, observation(Miss, 200, "1"));
        let ids: Vec<u32> = (0..5).collect();
        let many = one.get_many("players", &ids, &upstream("0")).await;
        assert!(many.iter().all(|it| it.as_ref().unwrap().0 == Miss));
        serves(&one, 1..20).await;
        assert_eq!(counts(&one).found, 0, "{}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test]
async fn what_is_no_redis_at_all_is_served_without() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let _ = (&client).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let one = Kit::with(Clock::new_simulated(), Some(hasty(&format!("redis://127.0.0.1:{port}"))));
    serves(&one, 0..20).await;
    assert!(!counts(&one).connected);
}

#[tokio::test]
async fn a_wrong_password_is_as_good_as_no_redis_until_it_is_right() {
    let redis = Redis::start_on(free_port(), &["--requirepass", "theirs"]);
    let one =
        Kit::with(Clock::new_simulated(), Some(hasty(&format!("redis://:ours@127.0.0.1:{}", redis.port))));
    let none = Kit::with(Clock::new_simulated(), Some(hasty(&format!("redis://127.0.0.1:{}", redis.port))));
    for kit in [&one, &none] {
        serves(kit, 0..20).await;
        assert!(!counts(kit).connected);
    }
    let operator = Client::open(format!("redis://:theirs@127.0.0.1:{}", redis.port)).unwrap();
    let mut connection = operator.get_connection().unwrap();
    redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("ours").exec(&mut connection).unwrap();
    until(&one, |it| it.connected).await;
    serves(&one, 20..40).await;
    until(&one, |it| it.written > 0).await;
    assert!(!counts(&none).connected);
}

#[tokio::test]
async fn a_redis_that_takes_no_writes_for_a_while_holds_up_nobody() {
    let redis = Redis::start();
    let one = Kit::with(Clock::new_simulated(), Some(RemoteSettings { budget: BUDGET, ..redis.settings() }));
    until(&one, |it| it.connected).await;
    redis.ask::<()>(&[b"CLIENT", b"PAUSE", b"3600000", b"WRITE"]);
    serves(&one, 0..50).await;
    assert_eq!(fetch_tagged(&one, &upstream("1")).await, observation(Miss, 200, "1"));
    one.cache.invalidate("Album");
    assert_eq!(fetch_tagged(&one, &upstream("2")).await, observation(Miss, 200, "2"));
    let before = counts(&one);
    assert!(before.written == 0 && before.late > 0, "{before:?}");
    redis.ask::<()>(&[b"CLIENT", b"UNPAUSE"]);
    for key in 100.. {
        serves(&one, key..key + 1).await;
        if counts(&one).written > 0 && counts(&one).connected {
            break;
        }
    }
    let other = redis.process(&one.clock).await;
    assert_ne!(
        fetch_tagged(&other, &upstream("3")).await,
        observation(HitRemote, 200, "1"),
        "it is invalid there too"
    );
}

#[tokio::test]
async fn who_has_a_lease_and_hangs_holds_up_the_others_for_a_moment() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = Kit::with(clock.clone(), Some(RemoteSettings { patience: BUDGET, ..redis.settings() }));
    until(&other, |it| it.connected).await;
    let hangs = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 600"], "1"));
    let answers = upstream("2");
    let hanging = one.get("key", &hangs);
    let theirs = async {
        hangs.came(1).await;
        let served = other.get("key", &answers).await;
        assert_eq!((served, counts(&other).leased), (Ok(observation(Miss, 200, "2")), 1));
        until(&other, |it| it.written == 1).await;
        hangs.let_through(1);
    };
    let (mine, ()) = tokio::join!(hanging, theirs);
    assert_eq!(mine, Ok(observation(Miss, 200, "1")));
    // After concurrent writes both processes have one whole answer.
    until(&one, |it| it.written == 1).await;
    let third = redis.process(&clock).await;
    assert_eq!(third.get("key", &upstream("3")).await, Ok(observation(HitRemote, 200, "1")));
}

#[tokio::test]
async fn a_lease_that_nobody_gives_back_ends() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let hangs = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 600"], "1"));
    let asked = one.get("key", &hangs);
    let look = async {
        hangs.came(1).await;
        let lease = redis.keys("test:l*").remove(0);
        let left_ms: i64 = redis.ask(&[b"PTTL", lease.as_bytes()]);
        assert!((1..=2000).contains(&left_ms), "{left_ms} ms");
        hangs.let_through(1);
    };
    tokio::join!(asked, look).0.unwrap();
}

#[tokio::test]
async fn an_answer_that_finds_no_room_gives_its_lease_back() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let held = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 600"], "1"));
    let asked = one.get("key", &held);
    let fill = async {
        held.came(1).await;
        assert_eq!(redis.keys("test:l*").len(), 1);
        redis.ask::<()>(&[b"CONFIG", b"SET", b"maxmemory", b"1"]);
        held.let_through(1);
    };
    tokio::join!(asked, fill).0.unwrap();
    until(&one, |it| it.failed == 1).await;
    // By its holder, not because its time is over.
    let begun = Instant::now();
    while redis.calls("del") == 0 {
        assert!(begun.elapsed() < PATIENCE, "it is kept");
        settle().await;
    }
    assert_eq!((counts(&one).written, redis.keys("test:l*").len()), (0, 0));
}

#[tokio::test]
async fn messages_that_make_no_sense_are_passed_over() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    let album = other.changes.versions(["Album"]);
    let genre = other.changes.versions(["Genre"]);
    let messages: [&[u8]; 6] =
        [b"", b"7 bytes", b"8 bytes.", b"8 bytes.8 bytes", b"8 bytes.8 bytes.\xff\xfe", &[0; 1 << 20]];
    for message in messages {
        redis.ask::<()>(&[b"PUBLISH", b"test:invalidate", message]);
    }
    one.cache.invalidate("Album");
    grows_old(&other, &album).await;
    assert!(other.changes.are_current(&genre) && counts(&other).connected);
}
