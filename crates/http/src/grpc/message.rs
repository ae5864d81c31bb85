//! Writes messages as JSON. A value that JSON cannot represent becomes a fault marker; the rest of the message stays.
//!
//! Protobuf's own JSON fails as a whole if a part has none, as an `Any` of an unknown type or a moment out of range has. A client that does
//! not select that part never sees it.
//!
//! **Invariant:** depth is that of the message, which decoding bounds.
//! Source: ProtoJSON.

use super::grpc_schema::{is_one_value, member_name};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, Kind, MapKey, ReflectMessage, SerializeOptions, Value};
use weir_language::json::JsonRef;
use weir_language::string_value::write_json;

/// ProtoJSON options: with default values, 64-bit integers as numbers.
const AS_JSON: SerializeOptions =
    SerializeOptions::new().skip_default_fields(false).stringify_64_bit_integers(false);

/// Key of the fault marker, the object that replaces a value without JSON form. No field can have this name.
const FAULT: &str = "\u{0}fault";

/// True for a fault marker.
pub(super) fn is_fault(value: JsonRef<'_>) -> bool {
    value.is_object() && value.get(FAULT).is_some()
}

/// Appends `message` as JSON.
pub(super) fn write(message: &DynamicMessage, out: &mut String) {
    let descriptor = message.descriptor();
    if is_one_value(descriptor.full_name()) {
        return write_known(message, out);
    }
    out.push('{');
    let mut is_first = true;
    for field in descriptor.fields() {
        if field.supports_presence() && !message.has_field(&field) {
            continue;
        }
        if !std::mem::replace(&mut is_first, false) {
            out.push(',');
        }
        write_json(member_name(&field), out);
        out.push(':');
        write_value(&message.get_field(&field), &field.kind(), out);
    }
    out.push('}');
}

/// Appends a well-known message that ProtoJSON writes as a single value.
fn write_known(message: &DynamicMessage, out: &mut String) {
    // An empty `Any` names no type to decode it with.
    if message.descriptor().full_name() == "google.protobuf.Any" && message.encoded_len() == 0 {
        return out.push_str("{}");
    }
    let mut json = serde_json::Serializer::new(Vec::new());
    let written = message.serialize_with_options(&mut json, &AS_JSON).map_err(|it| it.to_string());
    let text = written.and_then(|()| String::from_utf8(json.into_inner()).map_err(|it| it.to_string()));
    match text {
        Ok(text) => out.push_str(&text),
        Err(reason) => {
            tracing::debug!(reason, "a part of a message of a gRPC server has no JSON");
            out.push('{');
            write_json(FAULT, out);
            out.push_str(":true}");
        }
    }
}

fn write_value(value: &Value, kind: &Kind, out: &mut String) {
    match value {
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::I32(value) => out.push_str(&value.to_string()),
        Value::I64(value) => out.push_str(&value.to_string()),
        Value::U32(value) => out.push_str(&value.to_string()),
        Value::U64(value) => out.push_str(&value.to_string()),
        Value::F32(value) => write_float(f64::from(*value), &format!("{value:?}"), out),
        Value::F64(value) => write_float(*value, &format!("{value:?}"), out),
        Value::String(text) => write_json(text, out),
        Value::Bytes(bytes) => write_json(&BASE64_STANDARD.encode(bytes), out),
        Value::EnumNumber(number) => match kind {
            Kind::Enum(of) if of.full_name() == "google.protobuf.NullValue" => out.push_str("null"),
            Kind::Enum(of) => match of.get_value(*number) {
                Some(value) => write_json(value.name(), out),
                None => out.push_str(&number.to_string()),
            },
            _ => out.push_str(&number.to_string()),
        },
        Value::Message(message) => write(message, out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(item, kind, out);
            }
            out.push(']');
        }
        Value::Map(members) => {
            let of_values = match kind {
                Kind::Message(entry) => entry.map_entry_value_field().kind(),
                _ => kind.clone(),
            };
            let mut members: Vec<_> = members.iter().map(|(key, value)| (text_of(key), value)).collect();
            // Maps are unordered; sorting gives equal answers equal texts.
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(key, out);
                out.push(':');
                write_value(value, &of_values, out);
            }
            out.push('}');
        }
    }
}

/// Appends a number with its shortest digits. JSON has no infinities and no NaN.
fn write_float(value: f64, digits: &str, out: &mut String) {
    match value {
        _ if value.is_finite() => out.push_str(digits),
        f64::INFINITY => out.push_str("\"Infinity\""),
        f64::NEG_INFINITY => out.push_str("\"-Infinity\""),
        _ => out.push_str("\"NaN\""),
    }
}

fn text_of(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::DescriptorPool;
    use weir_language::json::Json;

    /// The JSON of a message of `fields`, made of a description in which every kind of field stands.
    fn json(bytes: &[u8]) -> String {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grpc/kinds.proto");
        let mut compiler = protox::Compiler::new([std::path::Path::new(file).parent().unwrap()]).unwrap();
        let pool: DescriptorPool = compiler.include_imports(true).open_file(file).unwrap().descriptor_pool();
        let descriptor = pool.get_message_by_name("weir.kinds.Kinds").unwrap();
        let mut out = String::new();
        write(&DynamicMessage::decode(descriptor, bytes).unwrap(), &mut out);
        out
    }

    #[test]
    fn fields_without_presence_have_their_defaults() {
        assert_eq!(
            json(b""),
            r#"{"flag":false,"digits":0.0,"size":0,"image":"","kind":"NONE","list":[],"map":{},"odd_name":0}"#
        );
    }

    #[test]
    fn values_stand_as_protobuf_has_them_in_json() {
        let json = json(
            &[
                &[0x08, 0x01][..],                                                                     // flag
                &[0x15, 0x00, 0x00, 0xc0, 0x7f], // digits: NaN
                &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], // size: 2^64 - 1
                &[0x22, 0x02, 0x00, 0x01],       // image
                &[0x28, 0x09],                   // kind: 9
                &[0x32, 0x01, b'a', 0x32, 0x02, b'"', b'b'], // list
                &[0x3a, 0x05, 0x0a, 0x01, b'z', 0x10, 0x02, 0x3a, 0x05, 0x0a, 0x01, b'y', 0x10, 0x01], // map
                &[0x40, 0x05],                   // odd_name
            ]
            .concat(),
        );
        let expected = r#"{"flag":true,"digits":"NaN","size":18446744073709551615,"image":"AAE=","kind":9,"list":["a","\"b"],"map":{"y":1,"z":2},"odd_name":5}"#;
        assert_eq!(json, expected);
        assert!(Json::parse(json.as_bytes(), 8).is_ok());
    }

    #[test]
    fn a_part_without_json_is_a_fault_in_its_place() {
        // An `Any` of `a/b`, and a moment of 2^62 seconds.
        let any = [0x4a, 0x05, 0x0a, 0x03, b'a', b'/', b'b'];
        let moment = [0x52, 0x0a, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
        let text = json(&[&[0x08, 0x01][..], &any, &moment].concat());
        let parsed = Json::parse(text.as_bytes(), 8).unwrap();
        let root = parsed.root();
        assert!(root.get("any").is_some_and(is_fault), "{text}");
        assert!(root.get("moment").is_some_and(is_fault), "{text}");
        assert!(!root.get("flag").is_some_and(is_fault) && !is_fault(root), "{text}");
        assert!(json(&[0x4a, 0x00]).contains(r#""any":{}"#), "an Any of nothing");
    }
}
