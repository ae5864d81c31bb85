//! Plans from YAML, and from the requests of a command line.

use super::Plan;
use super::build_plan::{build, whole, without_location};
use super::document_operations;
use super::document_operations::Definition;
use super::load_options::LoadOptions;
use super::plan_text::{OperationText, PlanText};
use crate::notation::yaml;
use crate::notation::yaml::{Mistake, Pairs};
use std::path::{Path, PathBuf};

/// A request of the command line.
#[derive(Clone, Debug)]
pub enum Request {
    /// A GraphQL document, and its variables in JSON or YAML.
    Query(String, Option<String>),
    /// A file of GraphQL operations, or a folder of them.
    Operations(PathBuf),
    /// A path for GET.
    Get(String),
}

impl Plan {
    /// Reads a plan; its files are relative to `base`. `load` replaces its own.
    /// # Errors
    /// The first mistake in it.
    pub fn read(text: &str, base: &Path, target: Option<&str>, load: LoadOptions) -> Result<Self, Mistake> {
        build(yaml::read(text)?, base, target, load)
    }

    /// A plan of the command line.
    /// # Errors
    /// The first mistake.
    pub fn quick(
        target: &str,
        requests: &[Request],
        headers: &[(String, String)],
        load: LoadOptions,
    ) -> Result<Self, Mistake> {
        let mut text = PlanText::default();
        text.headers.0 = headers
            .iter()
            .map(|(name, value)| (without_location(name.clone()), without_location(value.clone())))
            .collect();
        for request in requests {
            request.add(&mut text)?;
        }
        build(text, Path::new("."), Some(target), load)
    }
}

impl Request {
    fn add(&self, plan: &mut PlanText) -> Result<(), Mistake> {
        match self {
            Self::Get(path) => {
                let text =
                    OperationText { get: Some(without_location(path.clone())), ..OperationText::default() };
                plan.operations.0.push((without_location(format!("GET {path}")), without_location(text)));
            }
            Self::Query(document, variables) => {
                for definition in document_operations::operations(document).map_err(whole)? {
                    add_definition(plan, document, "query", definition, variables.as_deref())?;
                }
            }
            Self::Operations(path) => {
                for file in files(path).map_err(whole)? {
                    let shown = file.display();
                    let text = std::fs::read_to_string(&file)
                        .map_err(|cause| whole(format!("{shown} cannot be read: {cause}")))?;
                    let named = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let wrong = |cause| whole(format!("{shown}: {cause}"));
                    for definition in document_operations::operations(&text).map_err(wrong)? {
                        add_definition(plan, &text, &named, definition, None)
                            .map_err(|mistake| whole(format!("{shown}: {}", mistake.message)))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The `.graphql` files of a folder, by name, or the file.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries =
        std::fs::read_dir(path).map_err(|cause| format!("{} cannot be read: {cause}", path.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|it| it.ok().map(|it| it.path()))
        .filter(|it| it.extension().is_some_and(|it| it == "graphql" || it == "gql"))
        .collect();
    found.sort();
    if found.is_empty() { Err(format!("{} has no .graphql file", path.display())) } else { Ok(found) }
}

fn add_definition(
    plan: &mut PlanText,
    document: &str,
    otherwise: &str,
    definition: Definition,
    variables: Option<&str>,
) -> Result<(), Mistake> {
    let name = if definition.name.is_empty() { otherwise.to_owned() } else { definition.name.clone() };
    let variables = match variables.or(definition.variables.as_deref()) {
        None => Pairs::default(),
        Some(text) => yaml::read(text)
            .map_err(|it| whole(format!("the variables of `{name}` are no object: {}", it.message)))?,
    };
    let weight = definition
        .weight
        .as_deref()
        .map(|it| it.parse().map_err(|_| whole(format!("`{it}` is no weight of `{name}`; write a number"))));
    let text = OperationText {
        query: Some(without_location(document.to_owned())),
        operation: Some(definition.name),
        variables,
        weight: weight.transpose()?,
        ..OperationText::default()
    };
    plan.operations.0.push((without_location(name), without_location(text)));
    Ok(())
}
