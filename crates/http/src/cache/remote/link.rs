//! A connection to Redis or Valkey, single or cluster.

use crate::cache::second_level::Address;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisResult};
use std::time::Duration;

/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(1);
/// Timeout of background commands.
const RESPONSE: Duration = Duration::from_secs(1);

/// Parses `redis://host:port/0` or `redis-cluster://host:port,host:port`, both with an optional `user:password@`. With `rediss`
/// instead of `redis` the connection uses TLS with the system's certificates.
///
/// # Errors
/// The reason, without the text itself: it may contain a password.
pub(in crate::cache) fn parse_address(text: &str) -> Result<Address, String> {
    let cluster = ["redis", "rediss"].into_iter().find_map(|scheme| {
        let rest = text.strip_prefix(scheme)?.strip_prefix("-cluster://")?;
        Some((rest, scheme))
    });
    let (nodes, cluster): (Vec<String>, bool) = match cluster {
        Some((rest, scheme)) => {
            let (login, hosts) = rest.rsplit_once('@').map_or(("", rest), |(login, hosts)| (login, hosts));
            let at = if login.is_empty() { "" } else { "@" };
            (hosts.split(',').map(|host| format!("{scheme}://{login}{at}{host}")).collect(), true)
        }
        None => (vec![text.to_owned()], false),
    };
    let schemes = ["redis://", "rediss://", "valkey://", "valkeys://"];
    // A fragment (`#insecure`) would disable the check of certificates.
    let is_known = |node: &String| schemes.iter().any(|it| node.starts_with(it)) && !node.contains('#');
    if !nodes.iter().all(|node| is_known(node) && Client::open(node.as_str()).is_ok()) {
        return Err("is no address of a Redis; write `redis://host:6379`, or \
                    `redis-cluster://host:6379,host:6379` for a cluster; with TLS `rediss`"
            .to_owned());
    }
    Ok(Address { nodes, cluster })
}

impl Address {
    /// True for a cluster.
    pub(super) const fn is_cluster(&self) -> bool {
        self.cluster
    }

    /// Connects for commands.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        if self.cluster {
            let client = ClusterClient::builder(self.nodes.clone())
                .connection_timeout(CONNECT)
                .response_timeout(RESPONSE)
                .retries(1)
                .build()?;
            return Ok(Connection::Cluster(client.get_async_connection().await?));
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(RESPONSE));
        let client = Client::open(self.nodes[0].as_str())?;
        Ok(Connection::One(client.get_multiplexed_async_connection_with_config(&config).await?))
    }

    /// Subscribes to `channel`. Cluster nodes forward messages to each other, so any node will do.
    pub(super) async fn listen(&self, channel: &str) -> RedisResult<(PubSubSink, PubSubStream)> {
        let mut last = None;
        for node in &self.nodes {
            let listen = async {
                let (mut sink, stream) = Client::open(node.as_str())?.get_async_pubsub().await?.split();
                sink.subscribe(channel).await?;
                RedisResult::Ok((sink, stream))
            };
            match await_within(CONNECT, listen).await {
                Ok(listening) => return Ok(listening),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(timed_out))
    }
}

/// A multiplexed connection.
#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    /// Sends `command`.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        match self.clone() {
            Self::One(mut connection) => command.query_async(&mut connection).await,
            Self::Cluster(mut connection) => command.query_async(&mut connection).await,
        }
    }

    /// Reads `count` values with one command.
    ///
    /// # Errors
    /// See [`Self::ask`], and an answer with another number of values.
    pub(super) async fn values(&self, command: &Cmd, count: usize) -> RedisResult<Vec<Option<Vec<u8>>>> {
        let values: Vec<Option<Vec<u8>>> = self.ask(command).await?;
        if values.len() == count {
            Ok(values)
        } else {
            Err((ErrorKind::Parse, "other than as many values as were asked for").into())
        }
    }
}

/// Awaits `what`; a timeout is an error.
pub(super) async fn await_within<T>(
    time: Duration,
    what: impl Future<Output = RedisResult<T>>,
) -> RedisResult<T> {
    tokio::time::timeout(time, what).await.unwrap_or_else(|_| Err(timed_out()))
}

fn timed_out() -> redis::RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_and_of_many_are_read() {
        let check = |text: &str, nodes: &[&str], cluster: bool| {
            let address = Address::parse(text).unwrap();
            assert_eq!(
                (address.nodes.as_slice(), address.cluster),
                (&*nodes.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), cluster)
            );
        };
        check("redis://cache:6379/2", &["redis://cache:6379/2"], false);
        check("redis-cluster://a:1,b:2", &["redis://a:1", "redis://b:2"], true);
        check("redis-cluster://u:p@a:1,b:2", &["redis://u:p@a:1", "redis://u:p@b:2"], true);
        check("rediss://cache:6380", &["rediss://cache:6380"], false);
        check("rediss-cluster://u:p@a:1,b:2", &["rediss://u:p@a:1", "rediss://u:p@b:2"], true);
        for bad in ["", "cache:6379", "http://cache", "redis-cluster://", "rediss://cache/#insecure"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
