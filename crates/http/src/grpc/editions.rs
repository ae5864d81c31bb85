//! Lowers descriptions in protobuf editions to proto3, which the decoder supports.
//!
//! A descriptor set is rewritten: presence becomes `optional`, required fields get their label, delimited messages become groups. Enums are
//! open here in every syntax, and both encodings of lists are read. A source file in an edition is refused: `protoc` reads it.
//!
//! **Invariant:** a file of an older syntax stays as it is.
//! Source: protobuf.dev, "Feature Settings for Editions"; `descriptor.proto`.

use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `FeatureSet.FieldPresence`, `FeatureSet.MessageEncoding`, and labels and types of `FieldDescriptorProto`.
const IMPLICIT: i32 = 2;
const LEGACY_REQUIRED: i32 = 3;
const DELIMITED: i32 = 2;
const LABEL_REQUIRED: i32 = 2;
const LABEL_REPEATED: i32 = 3;
const TYPE_GROUP: i32 = 10;
const TYPE_MESSAGE: i32 = 11;

/// Maximum number of files searched for an edition.
const FILES_MAX: usize = 1_000;

/// Refuses a source file in an edition, or one that imports such a file.
///
/// # Errors
/// The file, and how to fix it.
pub(super) fn check(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut open = vec![file.to_path_buf()];
    let mut seen = BTreeSet::new();
    while let Some(file) = open.pop() {
        // The compiler reports unreadable files.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if let Some(edition) = statements(&text, "edition").next() {
            let shown = file.display();
            return Err(format!(
                "{shown} is of edition {edition}, which is read from a descriptor set alone: `protoc --include_imports --descriptor_set_out=all.pb {shown}`"
            ));
        }
        let imports: Vec<PathBuf> = statements(&text, "import").map(|it| folder.join(it)).collect();
        open.extend(imports.into_iter().filter(|it| seen.len() < FILES_MAX && seen.insert(it.clone())));
    }
    Ok(())
}

/// The string literals in the statements of `text` that begin with `word`.
fn statements<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let rest = line.trim_start().strip_prefix(word)?;
        let begins = rest.starts_with([' ', '\t', '=', '"', '\'']);
        let mut quoted = rest.split(['"', '\'']).skip(1);
        quoted.next().filter(|_| begins)
    })
}

/// Decodes a descriptor set.
///
/// # Errors
/// The bytes are not a valid descriptor set.
pub(super) fn decode(bytes: &[u8]) -> Result<DescriptorPool, String> {
    let set = DescriptorPool::global()
        .get_message_by_name("google.protobuf.FileDescriptorSet")
        .ok_or("descriptor sets are not known")?;
    let mut set = DynamicMessage::decode(set, bytes).map_err(|error| error.to_string())?;
    let mut is_changed = false;
    each(&mut set, "file", &mut |file| {
        if text(file, "syntax") == "editions" {
            is_changed = true;
            lower_file(file);
        }
    });
    let bytes = if is_changed { set.encode_to_vec() } else { bytes.to_vec() };
    DescriptorPool::decode(bytes.as_slice()).map_err(|error| error.to_string())
}

/// Features inherited by nested elements.
#[derive(Clone, Copy, Default)]
struct Features {
    presence: i32,
    encoding: i32,
}

impl Features {
    /// These features, overridden by the options of `descriptor`.
    fn override_by(self, descriptor: &DynamicMessage) -> Self {
        let options = descriptor.get_field_by_name("options");
        let features =
            options.as_deref().and_then(Value::as_message).and_then(|it| it.get_field_by_name("features"));
        let Some(features) = features.as_deref().and_then(Value::as_message) else { return self };
        let said = |name: &str, inherited: i32| match number(features, name) {
            0 => inherited,
            said => said,
        };
        Self {
            presence: said("field_presence", self.presence),
            encoding: said("message_encoding", self.encoding),
        }
    }
}

fn lower_file(file: &mut DynamicMessage) {
    // An enum of proto3 starts with 0. If one does not, use proto2, where every field has presence.
    let syntax = if has_odd_enum(file) { "proto2" } else { "proto3" };
    file.set_field_by_name("syntax", Value::String(syntax.into()));
    file.clear_field_by_name("edition");
    let features = Features::default().override_by(file);
    each(file, "message_type", &mut |message| lower_message(message, features));
    each(file, "extension", &mut |field| lower_field(field, features, false));
}

/// Lowers a message. Recursion is bounded by the nesting that decoding accepts.
fn lower_message(message: &mut DynamicMessage, features: Features) {
    let features = features.override_by(message);
    let is_map = message
        .get_field_by_name("options")
        .and_then(|it| it.as_message().and_then(|it| it.get_field_by_name("map_entry")?.as_bool()))
        .unwrap_or_default();
    each(message, "field", &mut |field| lower_field(field, features, is_map));
    each(message, "extension", &mut |field| lower_field(field, features, false));
    each(message, "nested_type", &mut |nested| lower_message(nested, features));
}

fn lower_field(field: &mut DynamicMessage, features: Features, is_of_map: bool) {
    let features = features.override_by(field);
    let is_message = number(field, "type") == TYPE_MESSAGE;
    if is_message && features.encoding == DELIMITED && !is_of_map {
        field.set_field_by_name("type", Value::EnumNumber(TYPE_GROUP));
    }
    let is_single = number(field, "label") != LABEL_REPEATED && !field.has_field_by_name("oneof_index");
    match features.presence {
        _ if !is_single || is_of_map => {}
        LEGACY_REQUIRED => field.set_field_by_name("label", Value::EnumNumber(LABEL_REQUIRED)),
        IMPLICIT => {}
        _ if is_message => {}
        _ => field.set_field_by_name("proto3_optional", Value::Bool(true)),
    }
}

/// True if an enum of a file or message does not start with 0. Recursion is bounded by the nesting that decoding accepts.
fn has_odd_enum(descriptor: &DynamicMessage) -> bool {
    let is_odd = |it: &DynamicMessage| {
        let values = it.get_field_by_name("value");
        let first =
            values.as_deref().and_then(Value::as_list).and_then(|it| it.first()?.as_message().cloned());
        first.is_some_and(|it| number(&it, "number") != 0)
    };
    let any = |name: &str, is: &dyn Fn(&DynamicMessage) -> bool| {
        let list = descriptor.get_field_by_name(name);
        let list = list.as_deref().and_then(Value::as_list).unwrap_or_default();
        list.iter().filter_map(Value::as_message).any(is)
    };
    any("enum_type", &is_odd) || any("message_type", &has_odd_enum) || any("nested_type", &has_odd_enum)
}

/// Applies `change` to each message of a list field.
fn each(descriptor: &mut DynamicMessage, name: &str, change: &mut dyn FnMut(&mut DynamicMessage)) {
    let list = descriptor.get_field_by_name_mut(name).and_then(Value::as_list_mut);
    list.into_iter().flatten().filter_map(Value::as_message_mut).for_each(change);
}

fn text(descriptor: &DynamicMessage, name: &str) -> String {
    let value = descriptor.get_field_by_name(name);
    value.as_deref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Value of an enum or 32-bit field; 0 if unset.
fn number(descriptor: &DynamicMessage, name: &str) -> i32 {
    let value = descriptor.get_field_by_name(name);
    value.as_deref().and_then(|it| it.as_enum_number().or_else(|| it.as_i32())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::Cardinality;
    use serde_json::json;

    /// A file of edition 2023 whose enum begins with `first`.
    fn set(first: i32) -> Vec<u8> {
        let field = |name: &str, number: i32, ty: &str, features: serde_json::Value| {
            let type_name = if ty == "TYPE_MESSAGE" { json!(".e.Part") } else { json!(null) };
            json!({"name": name, "number": number, "label": "LABEL_OPTIONAL", "type": ty, "typeName": type_name,
                "options": {"features": features}})
        };
        let thing = json!({"name": "Thing", "field": [
            field("plain", 1, "TYPE_INT32", json!({})),
            field("implicit", 2, "TYPE_INT32", json!({"fieldPresence": "IMPLICIT"})),
            field("must", 3, "TYPE_STRING", json!({"fieldPresence": "LEGACY_REQUIRED"})),
            field("part", 4, "TYPE_MESSAGE", json!({"messageEncoding": "DELIMITED"})),
            field("whole", 5, "TYPE_MESSAGE", json!({})),
        ]});
        let part = json!({"name": "Part", "options": {"features": {"fieldPresence": "IMPLICIT"}}, "field": [
            field("inherited", 1, "TYPE_BOOL", json!({})),
            field("own", 2, "TYPE_BOOL", json!({"fieldPresence": "EXPLICIT"})),
        ]});
        let file = json!({"name": "e.proto", "package": "e", "syntax": "editions", "edition": "EDITION_2023",
            "messageType": [thing, part], "enumType": [{"name": "Kind", "value": [{"name": "A", "number": first}]}]});
        let of = DescriptorPool::global().get_message_by_name("google.protobuf.FileDescriptorSet").unwrap();
        DynamicMessage::deserialize(of, json!({"file": [file]})).unwrap().encode_to_vec()
    }

    #[test]
    fn a_set_of_an_edition_says_what_its_features_say() {
        let pool = decode(&set(0)).unwrap();
        let thing = pool.get_message_by_name("e.Thing").unwrap();
        let facts = |of: &prost_reflect::MessageDescriptor, name: &str| {
            let field = of.get_field_by_name(name).unwrap();
            (field.supports_presence(), field.cardinality() == Cardinality::Required, field.is_group())
        };
        assert_eq!(facts(&thing, "plain"), (true, false, false));
        assert_eq!(facts(&thing, "implicit"), (false, false, false));
        assert!(facts(&thing, "must").1);
        assert_eq!(facts(&thing, "part"), (true, false, true));
        assert_eq!(facts(&thing, "whole"), (true, false, false));
        let part = pool.get_message_by_name("e.Part").unwrap();
        assert_eq!(facts(&part, "inherited"), (false, false, false));
        assert_eq!(facts(&part, "own"), (true, false, false));
        // Field 4 between a start and an end of a group, with field 1 in it.
        let message =
            DynamicMessage::decode(thing.clone(), &[0x23, 0x08, 0x01, 0x24, 0x1a, 0x01, b'x'][..]).unwrap();
        let inner = message.get_field_by_name("part").unwrap().into_owned();
        assert_eq!(inner.as_message().unwrap().get_field_by_name("inherited").unwrap().as_bool(), Some(true));
        assert!(decode(&set(7)).is_ok(), "an enum that begins with another number is closed");
    }

    #[test]
    fn statements_are_found_by_their_first_word() {
        let text = "// edition = \"x\";\n  edition = '2023';\nimport public \"a.proto\";\nimport \"b.proto\";\neditions = \"no\";";
        assert_eq!(statements(text, "edition").collect::<Vec<_>>(), ["2023"]);
        assert_eq!(statements(text, "import").collect::<Vec<_>>(), ["a.proto", "b.proto"]);
    }
}
