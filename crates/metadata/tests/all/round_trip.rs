//! Random documents are written in each form and read back as they were, in the order of an export.

use crate::folders::Folder;
use proptest::prelude::*;
use std::path::Path;
use weir_metadata::document::action::{
    ActionArgument, ActionDefinition, ActionEntry, ActionKind, ActionOperation, ActionPermission,
};
use weir_metadata::document::custom_types::{
    CustomTypes, EnumType, EnumTypeValue, InputField, InputObjectType, ObjectField, ObjectType, ScalarType,
};
use weir_metadata::document::permission::{Columns, PermissionEntry, SelectPermission, UpdatePermission};
use weir_metadata::document::source::{
    ConnectionInfo, DatabaseUrl, PoolSettings, SourceConfiguration, SourceEntry, SourceKind, UrlFromEnv,
};
use weir_metadata::document::table::{
    Configuration, ForeignKeyOn, QualifiedName, RelationshipEntry, RemoteKey, TableEntry, TableName, Using,
};
use weir_metadata::document::type_text::TypeText;
use weir_metadata::export::Export;
use weir_metadata::json::{Json, Members};
use weir_metadata::{Aside, Metadata, read};

/// Texts, among them those that YAML takes for something else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z_]{0,8}",
        "[ -~éß\\n\\t]{0,12}",
        Just("yes".to_owned()),
        Just("007".to_owned()),
        Just("1e5".to_owned()),
        Just("null".to_owned()),
        Just("- a: b".to_owned()),
        Just("😀\u{2028}\u{feff}".to_owned()),
    ]
    // A text that begins so is a file.
    .prop_filter("no include", |it| !it.starts_with("!include "))
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?(e[0-9]{1,4})?".prop_map(|it| Json::Number(it.into())),
        text().prop_map(|it| Json::Text(it.into())),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::List),
            members_of(inner).prop_map(Json::Object),
        ]
    })
}

fn members_of(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Members> {
    let members = prop::collection::btree_map(text(), value, 0..4);
    // `<<` as a key merges.
    members.prop_map(|it| Members(it.into_iter().map(|(key, value)| (key.into(), value)).collect()))
}

fn object() -> impl Strategy<Value = Json> {
    members_of(json()).prop_map(Json::Object)
}

fn columns() -> impl Strategy<Value = Columns> {
    prop_oneof![Just(Columns::All), prop::collection::vec(text(), 0..3).prop_map(Columns::Listed)]
}

fn select_permission() -> impl Strategy<Value = SelectPermission> {
    (columns(), object(), prop::option::of(any::<u32>()), any::<bool>()).prop_map(
        |(columns, filter, limit, allow_aggregations)| SelectPermission {
            columns,
            filter,
            limit,
            allow_aggregations,
            computed_fields: Vec::new(),
            query_root_fields: None,
            subscription_root_fields: Some(Vec::new()),
        },
    )
}

fn update_permission() -> impl Strategy<Value = UpdatePermission> {
    (columns(), object(), members_of(json()), any::<bool>()).prop_map(
        |(columns, filter, set, backend_only)| {
            let check = backend_only.then(|| filter.clone());
            UpdatePermission {
                columns,
                filter,
                check,
                set,
                backend_only,
                computed_fields: Vec::new(),
                validate_input: None,
            }
        },
    )
}

fn table(number: usize) -> impl Strategy<Value = TableEntry> {
    let name = prop_oneof![
        Just(TableName::Name(format!("t{number}"))),
        text().prop_map(move |schema| {
            TableName::Qualified(QualifiedName { schema: format!("s{schema}"), name: format!("t{number}") })
        }),
    ];
    (name, prop::option::of(text()), text(), select_permission(), update_permission(), any::<bool>())
        .prop_map(|(name, custom, column, select, update, is_enum)| {
            let entry = |name: &str, on| RelationshipEntry {
                name: name.into(),
                using: Using { foreign_key_constraint_on: Some(on), manual_configuration: None },
                comment: custom.clone(),
            };
            let key = RemoteKey { table: name.clone(), column: vec![column.clone()], columns: Vec::new() };
            TableEntry {
                is_enum,
                configuration: Configuration { custom_name: custom.clone(), ..Configuration::default() },
                object_relationships: vec![
                    entry("o", ForeignKeyOn::Column(column.clone())),
                    entry("p", ForeignKeyOn::Columns(vec![column.clone(), "b".into()])),
                ],
                array_relationships: vec![entry("a", ForeignKeyOn::Remote(key))],
                select_permissions: vec![PermissionEntry {
                    role: "r".into(),
                    permission: select.into(),
                    comment: None,
                }],
                update_permissions: vec![PermissionEntry {
                    role: "r".into(),
                    permission: update.into(),
                    comment: custom,
                }],
                ..TableEntry::new(name)
            }
        })
}

fn ty() -> impl Strategy<Value = TypeText> {
    prop::sample::select(vec!["Int", "uuid!", "[Line!]!", "[[Order]]"])
        .prop_map(|it| TypeText::parse(it).expect("it is a type"))
}

fn action(number: usize) -> impl Strategy<Value = ActionEntry> {
    let kind = prop_oneof![Just(ActionKind::Synchronous), Just(ActionKind::Asynchronous)];
    (ty(), prop::option::of(text()), any::<bool>(), kind, any::<bool>()).prop_map(
        move |(output_type, comment, is_query, kind, flag)| {
            let operation = if is_query { ActionOperation::Query } else { ActionOperation::Mutation };
            let argument =
                ActionArgument { name: "a".into(), ty: output_type.clone(), description: comment.clone() };
            let definition = ActionDefinition {
                handler: "{{SHOP}}/orders".into(),
                arguments: if flag { vec![argument] } else { Vec::new() },
                output_type,
                operation,
                // Queries have no kind.
                kind: if is_query { ActionKind::default() } else { kind },
                headers: Vec::new(),
                forward_client_headers: flag,
                ignored_client_headers: flag.then(|| vec!["X-A".into()]),
                timeout: flag.then_some(5),
                request_transform: None,
                response_transform: None,
            };
            let permission =
                ActionPermission { role: "r".into(), comment: comment.clone(), definition: None };
            let permissions = if flag { vec![permission] } else { Vec::new() };
            ActionEntry { name: format!("action{number}"), definition, comment, permissions }
        },
    )
}

fn custom_types() -> impl Strategy<Value = CustomTypes> {
    (ty(), prop::option::of(text()), 0..4_usize, any::<bool>()).prop_map(|(ty, description, count, flag)| {
        let name = |it: &str, at: usize| format!("{it}{at}");
        let input = |at| InputObjectType {
            name: name("In", at),
            description: description.clone(),
            fields: vec![InputField { name: "a".into(), ty: ty.clone(), description: description.clone() }],
        };
        let object = |at| ObjectType {
            name: name("Out", at),
            description: description.clone(),
            fields: vec![ObjectField {
                name: "a".into(),
                ty: ty.clone(),
                description: description.clone(),
                arguments: None,
            }],
            relationships: Vec::new(),
        };
        let scalar = |at| ScalarType { name: name("Scalar", at), description: description.clone() };
        let values = |at| EnumType {
            name: name("Kind", at),
            description: description.clone(),
            // SDL cannot say that a value is deprecated.
            values: vec![EnumTypeValue {
                value: "A".into(),
                description: description.clone(),
                is_deprecated: flag.then_some(true),
            }],
        };
        CustomTypes {
            input_objects: (0..count).map(input).collect(),
            objects: (0..count).rev().map(object).collect(),
            scalars: (0..count).map(scalar).collect(),
            enums: (0..count).map(values).collect(),
        }
    })
}

fn document() -> impl Strategy<Value = Metadata> {
    let tables = (0..4_usize).prop_flat_map(|count| (0..count).map(table).collect::<Vec<_>>());
    let kind = prop_oneof![Just(SourceKind::Postgres), Just(SourceKind::Sqlite)];
    let url = prop_oneof![
        text().prop_map(DatabaseUrl::Text),
        text().prop_map(|from_env| DatabaseUrl::FromEnv(UrlFromEnv { from_env })),
    ];
    let actions = (0..3_usize).prop_flat_map(|count| (0..count).map(action).collect::<Vec<_>>());
    let others = (actions, custom_types());
    (tables, kind, url, text(), others).prop_map(
        |(tables, kind, database_url, name, (actions, custom_types))| {
            let connection_info = ConnectionInfo {
                database_url,
                pool_settings: PoolSettings { max_connections: Some(5), ..PoolSettings::default() },
                use_prepared_statements: Some(true),
                isolation_level: None,
                ssl_configuration: None,
            };
            let configuration = Some(SourceConfiguration::new(connection_info));
            let source = SourceEntry { kind, configuration, tables, ..SourceEntry::new(name) };
            Metadata { sources: vec![source], actions, custom_types, ..Metadata::default() }
        },
    )
}

/// The JSON of `document` with all lists sorted and the members of objects by key.
fn without_order(document: &Metadata) -> Json {
    fn sort(value: &mut Json) {
        match value {
            Json::List(items) => {
                items.iter_mut().for_each(sort);
                items.sort_by_key(ToString::to_string);
            }
            Json::Object(Members(members)) => {
                members.iter_mut().for_each(|it| sort(&mut it.1));
                members.sort_by(|a, b| a.0.cmp(&b.0));
            }
            _ => {}
        }
    }
    let mut value = read::value(&serde_json::to_string(document).unwrap()).unwrap();
    sort(&mut value);
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_as_it_was(document in document()) {
        let export = Export::of(&document, &Aside::default()).unwrap();
        let ordered = read::text(&export.json().unwrap(), Path::new("m.json")).expect("it is metadata").document;
        prop_assert_eq!(without_order(&ordered), without_order(&document));
        for (name, text) in [("m.json", export.json().unwrap()), ("m.yaml", export.yaml())] {
            let read = read::text(&text, Path::new(name));
            prop_assert!(read.is_ok(), "{name}: {:?}\n{text}", read.err());
            prop_assert_eq!(&read.unwrap().document, &ordered, "{}", text);
        }
        let folder = Folder::new("random", &[]);
        for (name, text) in export.folder() {
            folder.write(&name, &text);
        }
        let read = folder.load();
        prop_assert!(read.is_ok(), "{:?}", read.err());
        prop_assert_eq!(&read.unwrap().document, &ordered);
    }
}
