//! Asks the server for the columns that statements would give, without running them.
//!
//! Source: the manual of PostgreSQL, "Extended Query": Parse, Describe and Sync of each statement.

use crate::address::Settings;
use crate::connect::dial::{Dialer, Kind, ReadVersion};
use crate::error::{DatabaseError, Error};
use crate::protocol::message;
use crate::protocol::rows::split;
use crate::protocol::stream::Stream;
use bytes::{Buf, BytesMut};
use postgres_protocol::message::frontend;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Names and numbers of types of a statement's columns, or the message with which the server refuses the statement.
pub type Described = Result<Vec<(String, u32)>, String>;

/// A statement and the numbers of the types of its parameters.
pub type AskedStatement = (String, Vec<u32>);

/// Describes each of `statements`, over a connection of its own.
/// # Errors
/// The server cannot be reached.
pub async fn describe(
    settings: &Settings,
    statements: &[AskedStatement],
    deadline: Instant,
) -> Result<Vec<Described>, Error> {
    let mut settings = settings.clone();
    settings.replicas.clear();
    let work = async {
        let dialer = Dialer::new(settings.clone(), ReadVersion::Present);
        let (connection, _) = dialer.connect(Kind::Session, &settings.hosts, settings.target).await?;
        let (mut stream, mut read) = connection.into_stream();
        let mut described = Vec::with_capacity(statements.len());
        for statement in statements {
            described.push(describe_one(&mut stream, &mut read, statement).await?);
        }
        Ok(described)
    };
    tokio::time::timeout_at(deadline.into(), work).await.unwrap_or(Err(Error::Timeout))
}

async fn describe_one(
    stream: &mut Stream,
    read: &mut BytesMut,
    (sql, types): &AskedStatement,
) -> Result<Described, Error> {
    let mut out = BytesMut::new();
    frontend::parse("", sql, types.iter().copied(), &mut out).map_err(Error::unavailable)?;
    frontend::describe(b'S', "", &mut out).map_err(Error::unavailable)?;
    frontend::sync(&mut out);
    stream.write_all(&out).await.map_err(Error::unavailable)?;
    let mut described: Described = Ok(Vec::new());
    loop {
        let Some((tag, body, _)) = split(read) else {
            if stream.read_buf(read).await.map_err(Error::unavailable)? == 0 {
                return Err(Error::unavailable("the server closed the connection"));
            }
            continue;
        };
        match tag {
            b'T' => described = Ok(message::columns(body)),
            b'E' => described = Err(DatabaseError::read(body).message.to_string()),
            _ => {}
        }
        let length = body.len() + 5;
        read.advance(length);
        if tag == b'Z' {
            return Ok(described);
        }
    }
}
