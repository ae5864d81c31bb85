//! Variables in expressions: checks them, and collects the keys, headers and settings that they read.
//!
//! **Invariant:** an expression that passes names only arguments and fields that are there, and no `$env` where the client
//! could see it.

use super::item_paths::item_paths;
use super::{KeyField, Reader, Setting, hint};
use crate::selection::{
    Expr, ExprId, Member, Method, Selection, SelectionError, Start, StepKind, Use, Variable, claim_names,
    leading_keys, session_variable,
};
use http::HeaderName;
use weir_engine::caller::{ROLE_VARIABLE, SESSION_PREFIX};
use weir_language::ast::ValueId;
use weir_language::schema::{FieldId, TypeId, TypeKind, TypeRef};
use weir_language::span::Span;

/// Names available to an expression.
#[derive(Clone, Copy)]
pub(super) struct Where {
    /// The field whose arguments are `$args`.
    pub(super) args: Option<FieldId>,
    /// The type whose fields are `$this` and `$batch`.
    pub(super) this: Option<TypeId>,
    /// True if `$batch` is available.
    pub(super) batch: bool,
    /// True for an expression over an answer: it may use names, `$`, `$status` and `$response`.
    pub(super) answer: bool,
    /// True if an unknown method yields nothing instead of an error, as in `selection` before v0.4.
    pub(super) tolerant: bool,
}

impl Where {
    /// Position inside `@source`.
    pub(super) const SOURCE: Self =
        Self { args: None, this: None, batch: false, answer: false, tolerant: false };
}

/// Variables that expressions read.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) keys: Vec<KeyField>,
    pub(super) headers: Vec<Box<str>>,
    pub(super) answer_headers: Vec<Box<str>>,
    /// By the names of `PreparedFetch::reads_claims`.
    pub(super) claims: Vec<Box<str>>,
    pub(super) batch: bool,
    pub(super) this: bool,
}

impl Seen {
    pub(super) fn header(&mut self, name: &str) {
        note_header(&mut self.headers, name);
    }

    fn claim(&mut self, name: &str) {
        if !self.claims.iter().any(|it| **it == *name) {
            self.claims.push(name.into());
        }
    }

    /// Records headers and claims that `selection` reads.
    pub(super) fn client(&mut self, selection: &Selection) {
        selection.variables().for_each(|it| self.client_use(&it));
    }

    fn client_use(&mut self, used: &Use<'_>) {
        match (used.variable, used.keys.as_slice()) {
            (Variable::Request, [("headers", _), (name, _), ..]) => self.header(name),
            (Variable::Response, [("headers", _), (name, _), ..]) => {
                note_header(&mut self.answer_headers, name);
            }
            (Variable::Claims, [(name, _), ..]) => {
                let (variable, claim) = claim_names(name);
                self.claim(&variable);
                claim.into_iter().for_each(|it| self.claim(it));
            }
            (Variable::Role, _) => self.claim(ROLE_VARIABLE),
            _ => {}
        }
    }
}

/// Adds the header `name`, in lower case, once.
fn note_header(all: &mut Vec<Box<str>>, name: &str) {
    let name: Box<str> = name.to_ascii_lowercase().into();
    if !all.contains(&name) {
        all.push(name);
    }
}

impl Reader<'_> {
    /// Checks the variables of `selection`, which starts at byte `shift` of the string `literal`.
    pub(super) fn check(
        &mut self,
        selection: &Selection,
        literal: ValueId,
        shift: u32,
        place: &Where,
        seen: &mut Seen,
    ) {
        for used in selection.variables() {
            match self.check_use(selection, &used, place, seen) {
                Ok(()) => self.note_setting(selection, &used, literal, shift),
                Err(error) => self.complain_shifted(literal, shift, error),
            }
            if used.variable == Variable::Context {
                let message = "nothing is in `$context`, so this has no value: `$config`, `$env` and `$request.headers` have";
                self.note_shifted(literal, shift, SelectionError::new(used.span, message));
            }
        }
        self.check_syntax(selection, literal, shift, place);
        if place.answer {
            return;
        }
        // Outside of answers, only arguments of methods have a current value (`@`).
        if let Some(span) = find_answer_reference(selection, selection.root()) {
            let message = "there is no answer yet: write `$args.name`, `$this.name` for a field of the parent, or `@.name` in an argument of a method";
            self.complain_shifted(literal, shift, SelectionError::new(span, message));
        }
    }

    /// Reports reads of an answer in `selection`, the mapping of a connector that makes no call.
    pub(super) fn check_local(&mut self, selection: &Selection, literal: ValueId) {
        let of_answer =
            |it: Use<'_>| matches!(it.variable, Variable::Status | Variable::Response).then_some(it.span);
        let body = find_answer_reference(selection, selection.root());
        for span in body.into_iter().chain(selection.variables().filter_map(of_answer)).collect::<Vec<_>>() {
            let message = "without `http` no call is made, so there is no answer to read: write `$args.name`, `$this.name`, or a literal";
            self.complain_within(literal, SelectionError::new(span, message));
        }
    }

    /// Reports syntax newer than the linked version, and parts without effect.
    fn check_syntax(&mut self, selection: &Selection, literal: ValueId, shift: u32, place: &Where) {
        let version = self.links.version;
        for &(syntax, span) in selection.newer().iter().filter(|it| it.0.since_version() > version) {
            let name = syntax.name();
            let since = syntax.since_version();
            let error = |message| SelectionError::new(span, message);
            if since > 3 {
                let message = format!("`{name}` is of connect v0.{since}, and this text links v0.{version}");
                self.complain_shifted(literal, shift, error(message));
            } else {
                let message = format!(
                    "`{name}` is of connect v0.{since}, and this text links v0.{version}: other servers refuse it"
                );
                self.note_shifted(literal, shift, error(message));
            }
        }
        for (name, span) in selection.unknown_calls() {
            let hint = hint(name, Method::ALL.iter().map(|it| it.name()));
            if place.tolerant && version < 4 {
                let message = format!("there is no method `->{name}`, so nothing is given here{hint}");
                self.note_shifted(literal, shift, SelectionError::new(span, message));
            } else {
                let message = format!("there is no method `->{name}`{hint}");
                self.complain_shifted(literal, shift, SelectionError::new(span, message));
            }
        }
        for span in selection.idle_arguments() {
            let message = "this is no pair, so `->match` never gives it: write `[\"a\", 1]`, and `[@, 0]` for all the rest";
            self.note_shifted(literal, shift, SelectionError::new(span, message));
        }
    }

    pub(super) fn note_shifted(&mut self, literal: ValueId, shift: u32, error: SelectionError) {
        let span = Span::new(error.span.start + shift, error.span.end + shift);
        let span = self.map_to_file(literal, span);
        let message = self.name_configuration_key(literal, error.message);
        self.note(span, message);
    }

    /// Records a setting and the location of its use.
    fn note_setting(&mut self, selection: &Selection, used: &Use<'_>, literal: ValueId, shift: u32) {
        let name = used.keys.first().map_or("", |it| it.0);
        let is_whole = name.is_empty();
        let span = Span::new(used.span.start + shift, used.span.end + shift);
        let location = self.location(self.map_to_file(literal, span));
        let setting =
            Setting { name: name.into(), may_be_unset: is_whole || selection.has_other(used.expr), location };
        match used.variable {
            Variable::Env => self.mapping.env.push(setting),
            Variable::Config => self.mapping.config.push(setting),
            Variable::Args
            | Variable::This
            | Variable::Batch
            | Variable::Context
            | Variable::Request
            | Variable::Status
            | Variable::Response
            | Variable::Claims
            | Variable::Role
            | Variable::Selection => {}
        }
    }

    pub(super) fn complain_shifted(&mut self, literal: ValueId, shift: u32, error: SelectionError) {
        let span = Span::new(error.span.start + shift, error.span.end + shift);
        self.complain_within(literal, SelectionError { span, ..error });
    }

    fn check_use(
        &mut self,
        selection: &Selection,
        used: &Use<'_>,
        place: &Where,
        seen: &mut Seen,
    ) -> Result<(), SelectionError> {
        let wrong = |message: &str| Err(SelectionError::new(used.span, message));
        match used.variable {
            Variable::Args => match place.args {
                Some(field) => self.check_args(selection, used, field),
                None => wrong("`$args` is known on fields only"),
            },
            Variable::This | Variable::Batch => {
                let batch = used.variable == Variable::Batch;
                let Some(ty) = place.this else {
                    return wrong("there is no parent here: `$this` and `$batch` stand below the root");
                };
                if batch && !place.batch {
                    return wrong(
                        "`$batch` stands in the request of a `@connect` on a type: write `$this` here",
                    );
                }
                seen.batch |= batch;
                seen.this |= !batch;
                match (used.keys.as_slice(), members(selection, used)) {
                    ([], Some(members)) if !place.answer => members
                        .iter()
                        .try_for_each(|it| self.key_member(selection, ty, it, used.variable, seen)),
                    ([], _) if batch && !item_paths(selection, used).is_empty() => {
                        let mut paths = item_paths(selection, used).into_iter();
                        paths.try_for_each(|it| self.key(ty, used.variable, &it, used.span, seen))
                    }
                    (keys, _) => self.key(ty, used.variable, keys, used.span, seen),
                }
            }
            Variable::Env if place.answer && !self.is_shown(used) => wrong(
                "`$env` is not known here, as clients would see it: name the variable in `env` beside `file` in weir.yaml",
            ),
            Variable::Env if used.keys.is_empty() => wrong("name what is meant, as in `$env.NAME`"),
            Variable::Env | Variable::Config => Ok(()),
            Variable::Status | Variable::Response if !place.answer => {
                let name = used.variable.name();
                let message = format!(
                    "there is no answer yet: `${name}` stands in `selection`, `isSuccess` and `errors`"
                );
                wrong(&message)
            }
            Variable::Response => check_response(used, seen),
            Variable::Context => Ok(()),
            Variable::Request | Variable::Claims | Variable::Role => check_client(used, seen),
            Variable::Status => Ok(()),
            Variable::Selection if self.outside.embedding.is_some() && !place.answer => Ok(()),
            Variable::Selection => wrong("there is no variable `$selection`"),
        }
    }

    /// True if the operator has named the variable of the environment that is read.
    fn is_shown(&self, used: &Use<'_>) -> bool {
        used.keys.first().is_some_and(|it| self.outside.env_shown.iter().any(|shown| shown == it.0))
    }

    /// Checks `$args.a.b { c }`: every name must exist.
    fn check_args(
        &self,
        selection: &Selection,
        used: &Use<'_>,
        field: FieldId,
    ) -> Result<(), SelectionError> {
        let schema = &self.mapping.schema;
        let inputs = |ty: Option<TypeRef>| match ty {
            None => Some(schema.field(field).arguments),
            Some(ty) if matches!(schema.ty(ty.base).kind, TypeKind::Input { .. }) => {
                Some(schema.ty(ty.base).members)
            }
            Some(_) => None,
        };
        let find = |ty: Option<TypeRef>, name: &str, span: Span| {
            let Some(run) = inputs(ty) else { return Ok(None) };
            let Some(input) = schema.input_by_name(run, name) else {
                let names = (run.start..run.start + run.len)
                    .map(|at| schema.input_name(weir_language::schema::InputId(at)));
                let what = match ty {
                    None => format!("`{}` has no argument `{name}`", schema.field_name(field)),
                    Some(ty) => format!("`{}` has no field `{name}`", schema.type_name(ty.base)),
                };
                return Err(SelectionError::new(span, what + &hint(name, names)));
            };
            Ok(Some(schema.input(input).ty))
        };
        let mut ty = None;
        for (name, span) in &used.keys {
            match find(ty, name, *span)? {
                Some(found) => ty = Some(found),
                None => return Ok(()),
            }
        }
        for Member { value, span, .. } in members(selection, used).unwrap_or_default() {
            if let Expr::Path { start: Start::Key(name), .. } = selection.expr(*value) {
                find(ty, name, *span)?;
            }
        }
        Ok(())
    }

    /// Checks a member of `$batch { id name }`: a key, or an expression independent of the parent.
    fn key_member(
        &self,
        selection: &Selection,
        ty: TypeId,
        member: &Member,
        variable: Variable,
        seen: &mut Seen,
    ) -> Result<(), SelectionError> {
        // Parts of an object are keys of a batch, which tells parents apart by them.
        let is_divided = variable == Variable::Batch && !self.mapping.foreign.contains(&ty);
        if let Some(paths) = key_paths(selection, member, is_divided) {
            return paths.iter().try_for_each(|it| self.key(ty, variable, it, member.span, seen));
        }
        match find_answer_reference(selection, member.value) {
            None => Ok(()),
            Some(span) => {
                let name = variable.name();
                let message =
                    format!("`${name}` gives fields by their names: write `${name} {{ id other: name }}`");
                Err(SelectionError::new(span, message))
            }
        }
    }

    /// Checks `$this.name`: a field of the parent, or a part of one.
    fn key(
        &self,
        ty: TypeId,
        variable: Variable,
        keys: &[(&str, Span)],
        whole: Span,
        seen: &mut Seen,
    ) -> Result<(), SelectionError> {
        let name = variable.name();
        let Some((&(key, span), below)) = keys.split_first() else {
            let message = format!("`${name}` has fields that are single values: write `${name}.id`");
            return Err(SelectionError::new(whole, message));
        };
        let found = if self.mapping.foreign.contains(&ty) {
            self.foreign_key(ty, key, below, span)?
        } else {
            self.own_key(ty, variable, key, below, span)?
        };
        match seen.keys.iter_mut().find(|it| &*it.name == key) {
            Some(known) => {
                let is_new = |it: &Vec<Box<str>>| !known.parts.contains(it);
                let parts: Vec<Vec<Box<str>>> = found.parts.into_iter().filter(is_new).collect();
                known.parts.extend(parts);
            }
            None => seen.keys.push(found),
        }
        Ok(())
    }

    /// Resolves a key of another source's type.
    fn foreign_key(
        &self,
        ty: TypeId,
        key: &str,
        below: &[(&str, Span)],
        span: Span,
    ) -> Result<KeyField, SelectionError> {
        let name = self.mapping.schema.type_name(ty);
        if self.mapping.schema.field_by_name(ty, key).is_some() {
            return Err(SelectionError::new(span, added_key_message(name, key)));
        }
        if let Some((_, span)) = below.first() {
            let message = format!("`{name}` is of another source, whose fields are keys as a whole");
            return Err(SelectionError::new(*span, message));
        }
        let is_optional = self.outside.embedding.is_some_and(|it| (it.may_be_null)(name, key));
        Ok(KeyField { name: key.into(), field: None, parts: Vec::new(), is_optional })
    }

    /// Resolves a key of a type in this file. If it is an object or list, a part is named by `below` or by a method.
    fn own_key(
        &self,
        ty: TypeId,
        variable: Variable,
        key: &str,
        below: &[(&str, Span)],
        span: Span,
    ) -> Result<KeyField, SelectionError> {
        let schema = &self.mapping.schema;
        let find = |ty: TypeId, key: &str, span: Span| {
            schema.field_by_name(ty, key).ok_or_else(|| {
                let names = schema.ty(ty).fields.range().map(|at| schema.field_name(FieldId(at as u32)));
                let message = format!("`{}` has no field `{key}`{}", schema.type_name(ty), hint(key, names));
                SelectionError::new(span, message)
            })
        };
        let field = find(ty, key, span)?;
        let found = schema.field(field).ty;
        let is_leaf = |ty: TypeRef| matches!(schema.ty(ty.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        let is_batch = variable == Variable::Batch;
        let mut has_list = found.wraps.is_list();
        let mut at = found;
        for (name, span) in below {
            at = match schema.ty(at.base).kind {
                TypeKind::Object => schema.field(find(at.base, name, *span)?).ty,
                // A custom scalar may be any JSON.
                TypeKind::Scalar(_) if at.base > weir_language::schema::builtin::ID => break,
                _ => {
                    let message = format!("`{}` has no fields", schema.type_name(at.base));
                    return Err(SelectionError::new(*span, message));
                }
            };
            has_list |= at.wraps.is_list();
        }
        if is_batch && (has_list || !is_leaf(at)) {
            let message = format!("`{key}` is no single value, and answers to `$batch` are matched by such");
            return Err(SelectionError::new(span, message));
        }
        let part: Vec<Box<str>> = below.iter().map(|it| it.0.into()).collect();
        let parts = if is_batch && !part.is_empty() { vec![part] } else { Vec::new() };
        Ok(KeyField { name: key.into(), field: Some(field), parts, is_optional: false })
    }
}
/// Checks a read of client data, and records it.
fn check_client(used: &Use<'_>, seen: &mut Seen) -> Result<(), SelectionError> {
    let wrong = |message: &str| Err(SelectionError::new(used.span, message));
    match (used.variable, used.keys.as_slice()) {
        (Variable::Request, [("headers", _), (name, _), ..]) => {
            if let Some(instead) = header_replacement(name) {
                return wrong(&format!("{}: write `{instead}`", unread_header_reason(name)));
            }
        }
        (Variable::Request, _) => {
            return wrong("only headers are known of it: write `$request.headers.'name'`");
        }
        (Variable::Claims, []) => {
            return wrong("name what is meant, as in `$claims.sub` or `$claims.'user-id'`");
        }
        (Variable::Role, [_, ..]) => return wrong("`$role` is a text: nothing is in it"),
        _ => {}
    }
    seen.client_use(used);
    Ok(())
}

/// Checks what is read of the answer beside its body, and notes it.
fn check_response(used: &Use<'_>, seen: &mut Seen) -> Result<(), SelectionError> {
    let [("headers", _), (name, span), ..] = used.keys.as_slice() else {
        let message = "only headers are known of it: write `$response.headers.'name'`";
        return Err(SelectionError::new(used.span, message));
    };
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Err(SelectionError::new(*span, format!("`{name}` is no name of a header")));
    }
    seen.client_use(used);
    Ok(())
}

/// The replacement for the client's header `name`, if it is one of a session variable.
pub(super) fn header_replacement(name: &str) -> Option<String> {
    let variable = session_variable(name)?;
    Some(match variable.strip_prefix(SESSION_PREFIX) {
        _ if variable == ROLE_VARIABLE => "$role".to_owned(),
        own => format!("$claims.'{}'", own.unwrap_or(&variable)),
    })
}

/// Message why the client header `name` is not read.
pub(super) fn unread_header_reason(name: &str) -> String {
    format!("any client can send `{name}`, so the header is not read; authentication says what holds")
}

/// Message why `key` cannot be a key of another source's type `ty`: this file adds it.
pub(super) fn added_key_message(ty: &str, key: &str) -> String {
    format!(
        "`{ty}.{key}` is added here and asked of a service itself, so it cannot be a key: name a field that `{ty}` has of its own source"
    )
}

/// The paths of keys that a member names: one, or one for each member of its braces if it `is_divided`. `None` if it begins with no name.
fn key_paths<'s>(
    selection: &'s Selection,
    member: &Member,
    is_divided: bool,
) -> Option<Vec<Vec<(&'s str, Span)>>> {
    let Expr::Path { start: Start::Key(key), steps } = selection.expr(member.value) else { return None };
    let first = (&**key, member.span);
    let path: Vec<(&str, Span)> = std::iter::once(first).chain(leading_keys(steps)).collect();
    let behind = steps.get(path.len() - 1).filter(|_| is_divided);
    let Some(StepKind::Members(inner)) = behind.map(|it| &it.kind) else { return Some(vec![path]) };
    let paths = inner.iter().filter_map(|it| key_paths(selection, it, is_divided)).flatten();
    Some(paths.map(|more| [path.clone(), more].concat()).collect())
}

/// Members that directly follow the keys of a variable.
fn members<'s>(selection: &'s Selection, used: &Use<'_>) -> Option<&'s [Member]> {
    let Expr::Path { steps, .. } = selection.expr(used.expr) else { return None };
    match &steps.get(used.keys.len())?.kind {
        StepKind::Members(members) => Some(members),
        _ => None,
    }
}

/// The first place in `root`, an expression outside of answers, that refers to an answer.
pub(super) fn find_answer_reference(selection: &Selection, root: ExprId) -> Option<Span> {
    // Each expression, with true if it stands in a method's arguments, where `@` exists. Member selections of a value have a current value
    // too, so the walk skips them.
    let mut open = vec![(root, false)];
    while let Some((id, in_call)) = open.pop() {
        let also = |items: &[ExprId]| items.iter().map(|&it| (it, in_call)).collect::<Vec<_>>();
        match selection.expr(id) {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
            Expr::Array(items) | Expr::Merged(items) | Expr::Coalesce(items) | Expr::IfMissing(items) => {
                open.extend(also(items));
            }
            Expr::Object(members) => open.extend(members.iter().map(|it| (it.1, in_call))),
            Expr::Members(_) if in_call => {}
            Expr::Members(members) => open.extend(members.iter().map(|it| (it.value, in_call))),
            Expr::Path { start, steps } => {
                match start {
                    Start::Variable(_) | Start::Local(_) => {}
                    Start::Current if in_call => {}
                    Start::Value(inner) => open.push((*inner, in_call)),
                    Start::Scope | Start::Current | Start::Key(_) => return Some(selection.span(id)),
                }
                for step in steps {
                    match &step.kind {
                        StepKind::Call(call) => open.extend(call.arguments.iter().map(|&it| (it, true))),
                        StepKind::UnknownCall { arguments, .. } => {
                            open.extend(arguments.iter().map(|&it| (it, true)));
                        }
                        StepKind::Bind { value, .. } => open.extend(value.iter().map(|&it| (it, true))),
                        StepKind::Key(_) | StepKind::Optional | StepKind::Members(_) => {}
                    }
                }
            }
        }
    }
    None
}
