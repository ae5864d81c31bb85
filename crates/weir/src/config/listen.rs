//! Addresses to listen on, as people write them: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or `8080` alone.
//!
//! **Invariant:** an address without a host is on loopback; every interface has to be asked for by `0.0.0.0` or `[::]`.

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// `listen`: where connections are taken, `ADDRESS:PORT`, `NAME:PORT` or a port of 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Listen(pub SocketAddr);

impl Default for Listen {
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)))
    }
}

impl FromStr for Listen {
    type Err = String;

    /// Reads an address; a name is looked up, and IPv4 is preferred.
    /// # Errors
    /// A text that is none, with forms that are.
    fn from_str(text: &str) -> Result<Self, String> {
        let loopback = |port: u16| Self(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        if let Ok(address) = text.parse() {
            return Ok(Self(address));
        }
        if text.starts_with(|it: char| it.is_ascii_digit())
            && let Ok(port) = text.parse()
        {
            return Ok(loopback(port));
        }
        if text.contains('/') {
            return Err(wrong(text));
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(|| wrong(text))?;
        let port: u16 = port.parse().map_err(|_| wrong(text))?;
        match host {
            "" => {
                let hint = format!("`:{port}` names no address; write `{port}` for this machine only");
                Err(format!("{hint}, or `0.0.0.0:{port}` for every interface"))
            }
            "localhost" => Ok(loopback(port)),
            _ => {
                let found: Vec<SocketAddr> = (host, port)
                    .to_socket_addrs()
                    .map_err(|cause| format!("`{host}` has no address: {cause}"))?
                    .collect();
                let first = found.iter().find(|it| it.is_ipv4()).or(found.first());
                first.map(|it| Self(*it)).ok_or_else(|| format!("`{host}` has no address"))
            }
        }
    }
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no address to listen on; write `127.0.0.1:8080`, `localhost:8080` or `8080`")
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AddressVisitor)
    }
}

/// An address as text, or a port as a number.
struct AddressVisitor;

impl Visitor<'_> for AddressVisitor {
    type Value = Listen;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address to listen on")
    }
    fn visit_u64<E: Error>(self, port: u64) -> Result<Listen, E> {
        self.visit_str(&port.to_string())
    }
    fn visit_i64<E: Error>(self, port: i64) -> Result<Listen, E> {
        self.visit_str(&port.to_string())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Listen, E> {
        text.parse().map_err(E::custom)
    }
}

/// `tls`: files in PEM, relative to the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (text.parse::<Listen>(), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.0.to_string(), expected),
            (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        check("127.0.0.1:9000", Ok("127.0.0.1:9000"));
        check("[::1]:9000", Ok("[::1]:9000"));
        check("0.0.0.0:80", Ok("0.0.0.0:80"));
        check("8080", Ok("127.0.0.1:8080"));
        check("localhost:8080", Ok("127.0.0.1:8080"));
    }

    #[test]
    fn what_is_none_says_what_is() {
        check("nonsense", Err("write `127.0.0.1:8080`, `localhost:8080` or `8080`"));
        check("localhost", Err("is no address to listen on"));
        check("localhost:http", Err("is no address to listen on"));
        check("+80", Err("is no address to listen on"));
        check("http://127.0.0.1:80", Err("is no address to listen on"));
        check("70000", Err("is no address to listen on"));
        check(":8080", Err("write `8080` for this machine only, or `0.0.0.0:8080` for every interface"));
        check("no such host:80", Err("has no address"));
    }
}
