//! Decoder of `pgoutput`, the plugin of logical decoding that every PostgreSQL has, in version 1 of its protocol.
//!
//! Source: the manual of PostgreSQL, "Logical Replication Message Formats".
//!
//! **Invariant:** any bytes give a message or [`Malformed`]; nothing is read beyond their end, and no count in them is trusted.
//!
//! **Cost:** names and values are slices of the message.

/// A message that does not keep to the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A message of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message<'m> {
    /// The changes of a committed transaction follow.
    Begin {
        /// Transaction number: the 32 bits that rows have.
        xid: u32,
    },
    /// End of a transaction, after all its changes.
    Commit {
        /// The position behind its record of the commit.
        end: u64,
    },
    /// A table, before its first change and after each change of its columns.
    Relation(DescribedRelation<'m>),
    /// A new row.
    Insert {
        /// Number of the table.
        relation: u32,
        /// The row.
        new: Tuple<'m>,
    },
    /// A changed row.
    Update {
        /// Number of the table.
        relation: u32,
        /// The old row, or its columns of the replica identity. `None` if these did not change.
        old: Option<Tuple<'m>>,
        /// The row.
        new: Tuple<'m>,
    },
    /// A row that is gone.
    Delete {
        /// Number of the table.
        relation: u32,
        /// The old row, or its columns of the replica identity.
        old: Tuple<'m>,
    },
    /// All rows of these tables are gone.
    Truncate {
        /// Numbers of the tables.
        relations: Vec<u32>,
    },
    /// A message without changes of rows, or one that this version does not know.
    Other,
}

/// A table as the plugin describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedRelation<'m> {
    /// OID of the table.
    pub oid: u32,
    /// Columns of the table that the publication has.
    pub columns: Vec<RelationColumn<'m>>,
}

/// A column of such a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelationColumn<'m> {
    /// True if it is one of the replica identity.
    pub is_identity: bool,
    /// Name of the column.
    pub name: &'m [u8],
}

/// The values of a row, in the order of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tuple<'m>(pub Vec<Value<'m>>);

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'m> {
    /// Null; of an old row also a column that is not of the replica identity.
    Null,
    /// A large value that was not changed, and is not sent.
    Unchanged,
    /// The text of the value.
    Text(&'m [u8]),
    /// The value in binary form, which is never requested.
    Binary(&'m [u8]),
}

/// Decodes a message.
/// # Errors
/// The message is truncated, or not in the expected format.
pub(super) fn decode(message: &[u8]) -> Result<Message<'_>, Malformed> {
    let mut rest = Reader(message);
    let decoded = match rest.byte()? {
        b'B' => {
            let _final_position = rest.u64()?;
            let _time = rest.u64()?;
            Message::Begin { xid: rest.u32()? }
        }
        b'C' => {
            let _flags = rest.byte()?;
            let _position = rest.u64()?;
            let end = rest.u64()?;
            let _time = rest.u64()?;
            Message::Commit { end }
        }
        b'R' => Message::Relation(rest.relation()?),
        b'I' => {
            let relation = rest.u32()?;
            rest.expect(b'N')?;
            Message::Insert { relation, new: rest.tuple()? }
        }
        b'U' => {
            let relation = rest.u32()?;
            let old = match rest.byte()? {
                b'K' | b'O' => {
                    let old = rest.tuple()?;
                    rest.expect(b'N')?;
                    Some(old)
                }
                b'N' => None,
                _ => return Err(Malformed),
            };
            Message::Update { relation, old, new: rest.tuple()? }
        }
        b'D' => {
            let relation = rest.u32()?;
            match rest.byte()? {
                b'K' | b'O' => Message::Delete { relation, old: rest.tuple()? },
                _ => return Err(Malformed),
            }
        }
        b'T' => {
            let count = rest.u32()?;
            let _options = rest.byte()?;
            let relations = (0..count).map(|_| rest.u32()).collect::<Result<_, _>>()?;
            Message::Truncate { relations }
        }
        // Types, origins, messages of applications; those of later versions are not asked for.
        _ => return Ok(Message::Other),
    };
    match rest.0 {
        [] => Ok(decoded),
        _ => Err(Malformed),
    }
}

/// The rest of a message.
struct Reader<'m>(&'m [u8]);

impl<'m> Reader<'m> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.byte()? == byte { Ok(()) } else { Err(Malformed) }
    }

    /// The bytes up to the next zero.
    fn text(&mut self) -> Result<&'m [u8], Malformed> {
        let end = memchr::memchr(0, self.0).ok_or(Malformed)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Ok(text)
    }

    /// Bytes after their length.
    fn bytes(&mut self) -> Result<&'m [u8], Malformed> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn relation(&mut self) -> Result<DescribedRelation<'m>, Malformed> {
        let oid = self.u32()?;
        let _schema = self.text()?;
        let _name = self.text()?;
        let _identity = self.byte()?;
        let count = self.u16()?;
        let columns = (0..count).map(|_| self.column()).collect::<Result<_, _>>()?;
        Ok(DescribedRelation { oid, columns })
    }

    fn column(&mut self) -> Result<RelationColumn<'m>, Malformed> {
        let is_identity = self.byte()? & 1 == 1;
        let name = self.text()?;
        let _type = self.u32()?;
        let _modifier = self.u32()?;
        Ok(RelationColumn { is_identity, name })
    }

    fn tuple(&mut self) -> Result<Tuple<'m>, Malformed> {
        let count = self.u16()?;
        (0..count).map(|_| self.value()).collect::<Result<_, _>>().map(Tuple)
    }

    fn value(&mut self) -> Result<Value<'m>, Malformed> {
        match self.byte()? {
            b'n' => Ok(Value::Null),
            b'u' => Ok(Value::Unchanged),
            b't' => self.bytes().map(Value::Text),
            b'b' => self.bytes().map(Value::Binary),
            _ => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One of each kind, as a server sends them.
    fn samples() -> Vec<(Vec<u8>, Message<'static>)> {
        let row = |values: &'static [Value<'static>]| Tuple(values.to_vec());
        let one = || row(&[Value::Text(b"1"), Value::Null]);
        let columns = vec![
            RelationColumn { is_identity: true, name: b"id" },
            RelationColumn { is_identity: false, name: b"name" },
        ];
        vec![
            ([&b"B"[..], &[0; 15], &[1, 0, 0, 2, 3]].concat(), Message::Begin { xid: 0x203 }),
            ([&b"C\0"[..], &[0; 8], &[0, 0, 0, 1, 0, 0, 0, 2], &[0; 8]].concat(), Message::Commit { end: (1 << 32) + 2 }),
            (
                b"R\0\0\x40\x01public\0boat\0d\0\x02\x01id\0\0\0\0\x17\xff\xff\xff\xff\0name\0\0\0\0\x19\xff\xff\xff\xff".to_vec(),
                Message::Relation(DescribedRelation { oid: 0x4001, columns }),
            ),
            (b"I\0\0\0\x07N\0\x02t\0\0\0\x011n".to_vec(), Message::Insert { relation: 7, new: one() }),
            (
                b"U\0\0\0\x07N\0\x02ub\0\0\0\x02\x01\x02".to_vec(),
                Message::Update { relation: 7, old: None, new: row(&[Value::Unchanged, Value::Binary(&[1, 2])]) },
            ),
            (
                b"U\0\0\0\x07K\0\x01nN\0\x02t\0\0\0\x011n".to_vec(),
                Message::Update { relation: 7, old: Some(row(&[Value::Null])), new: one() },
            ),
            (b"D\0\0\0\x07O\0\x02t\0\0\0\x011n".to_vec(), Message::Delete { relation: 7, old: one() }),
            (b"T\0\0\0\x02\x01\0\0\0\x07\0\0\0\x08".to_vec(), Message::Truncate { relations: vec![7, 8] }),
        ]
    }

    #[test]
    fn each_kind_of_message_is_decoded() {
        for (bytes, expected) in samples() {
            assert_eq!(decode(&bytes), Ok(expected));
        }
        for other in [&b"Y\0\0\0\x01x\0y\0"[..], b"O", b"M\0", b"S", b"\xff"] {
            assert_eq!(decode(other), Ok(Message::Other), "{other:?}");
        }
    }

    #[test]
    fn a_message_that_is_cut_or_has_more_is_malformed() {
        for (bytes, _) in samples() {
            for end in 0..bytes.len() {
                assert_eq!(decode(&bytes[..end]), Err(Malformed), "{:?}", &bytes[..end]);
            }
            assert_eq!(decode(&[&bytes[..], b"\0"].concat()), Err(Malformed));
        }
    }

    #[test]
    fn counts_and_lengths_are_not_trusted() {
        for hostile in [
            &b"T\xff\xff\xff\xff\0\0\0\0\x01"[..],
            b"I\0\0\0\x01N\xff\xff",
            b"I\0\0\0\x01N\0\x01t\xff\xff\xff\xffx",
            b"I\0\0\0\x01K\0\0",
            b"I\0\0\0\x01N\0\x01x",
            b"U\0\0\0\x01K\0\0K\0\0",
            b"D\0\0\0\x01N\0\0",
            b"R\0\0\0\x01public",
            b"R\0\0\0\x01p\0q\0d\xff\xff",
        ] {
            assert_eq!(decode(hostile), Err(Malformed), "{hostile:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(at in 0..8_usize, changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
                             random in proptest::collection::vec(any::<u8>(), 0..64)) {
            let (mut bytes, _) = samples().swap_remove(at);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let _ = decode(&bytes);
            let _ = decode(&random);
        }
    }
}
