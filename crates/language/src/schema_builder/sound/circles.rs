//! Finds what contains itself: input objects through fields that must be given, directives through their arguments.

use super::Check;
use crate::ids::TypeId;
use crate::type_system::{Run, TypeKind};

/// Reports each circle of input objects whose fields can be neither null nor an empty list.
///
/// A walk in depth with a stack of its own, as graphql-js's `createInputObjectCircularRefsValidator`.
pub(super) fn inputs(check: &mut Check<'_>) {
    let schema = check.schema;
    let mut visited = vec![false; schema.types.len()];
    // By type: its place on the way, while it is on it.
    let mut on_way: Vec<Option<usize>> = vec![None; schema.types.len()];
    // The way: a type, and the place of the field to look at next.
    let mut way: Vec<(TypeId, u32)> = Vec::new();
    for at in 0..schema.types.len() {
        // Without a field that must be given there is no way on. Only input objects are demanding.
        if visited[at] || !schema.demanding[at] {
            continue;
        }
        let mut entered = Some(TypeId(at as u32));
        loop {
            if let Some(id) = entered.take() {
                visited[id.index()] = true;
                on_way[id.index()] = Some(way.len());
                way.push((id, schema.ty(id).members.start));
            }
            let Some((id, next)) = way.last_mut() else { break };
            if check.errors.are_enough() {
                return;
            }
            let members = schema.ty(*id).members;
            if *next as usize == members.range().end {
                on_way[id.index()] = None;
                way.pop();
                continue;
            }
            let input = schema.inputs.get(*next as usize);
            *next += 1;
            let must = input.ty.is_non_null() && !input.ty.wraps.is_list();
            if !must || !matches!(schema.ty(input.ty.base).kind, TypeKind::Input { .. }) {
                continue;
            }
            match on_way[input.ty.base.index()] {
                Some(from) => circle(check, &way[from..]),
                None if visited[input.ty.base.index()] => {}
                None => entered = Some(input.ty.base),
            }
        }
    }
}

/// `way` begins with the type that its last field comes back to.
fn circle(check: &mut Check<'_>, way: &[(TypeId, u32)]) {
    let schema = check.schema;
    let fields = way.iter().map(|it| crate::ids::InputId(it.1 - 1));
    let path: Vec<_> = fields.clone().map(|id| schema.input_name(id)).collect();
    let spans = fields.flat_map(|id| check.places.of_input(id)).collect();
    let message = format!(
        "Cannot reference Input Object \"{}\" within itself through a series of non-null fields: \"{}\".",
        schema.type_name(way[0].0),
        path.join(".")
    );
    check.report(spans, message);
}

/// Reports each directive whose definition needs the directive itself.
///
/// Directives and input types are the nodes of a graph; a directive is in a circle if it shares a strongly connected
/// component with another node or points to itself. Tarjan's algorithm with a stack of its own.
pub(super) fn directives(check: &mut Check<'_>) {
    let graph = Graph::of(check);
    let count = graph.starts.len() - 1;
    let mut tarjan = Tarjan {
        order: vec![0; count],
        low: vec![0; count],
        stacked: vec![false; count],
        ..Tarjan::default()
    };
    for root in 0..graph.directives {
        if tarjan.order[root] == 0 {
            tarjan.walk(&graph, root);
        }
    }
    tarjan.circular.sort_unstable();
    tarjan.circular.dedup();
    for at in tarjan.circular {
        let directive = &check.schema.directives[at];
        let message = format!(
            "Directive \"@{}\" cannot reference itself, directly or through its arguments.",
            check.schema.str(directive.name)
        );
        let spans = check.places.of_directive(crate::ids::DirectiveId(at as u32));
        check.report(spans, message);
    }
}

/// Dependencies between directives and input types (numbered after the directives).
struct Graph {
    directives: usize,
    /// Edges of node `n` are `edges[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    fn of(check: &Check<'_>) -> Self {
        let schema = check.schema;
        let directives = schema.directives.len();
        let mut graph = Self { directives, starts: vec![0], edges: Vec::new() };
        // Few schemas apply directives to inputs at all: then there is nothing to find.
        let applied_at_all = !schema.applied.is_empty();
        for directive in schema.directives.iter().filter(|_| applied_at_all) {
            graph.add_applied_directives(check, directive.applied);
            graph.inputs(check, directive.arguments);
            graph.starts.push(graph.edges.len() as u32);
        }
        for ty in schema.types.iter().filter(|_| applied_at_all) {
            match ty.kind {
                TypeKind::Scalar(_) => graph.add_applied_directives(check, ty.applied),
                TypeKind::Enum => {
                    graph.add_applied_directives(check, ty.applied);
                    for value in &schema.enum_values[ty.members.range()] {
                        graph.add_applied_directives(check, value.applied);
                    }
                }
                TypeKind::Input { .. } => {
                    graph.add_applied_directives(check, ty.applied);
                    graph.inputs(check, ty.members);
                }
                TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
            }
            graph.starts.push(graph.edges.len() as u32);
        }
        if !applied_at_all {
            graph.directives = 0;
        }
        graph
    }

    fn inputs(&mut self, check: &Check<'_>, run: Run) {
        for input in check.schema.inputs.range(run.range()) {
            self.edges.push(self.directives as u32 + input.ty.base.0);
            self.add_applied_directives(check, input.applied);
        }
    }

    fn add_applied_directives(&mut self, check: &Check<'_>, run: Run) {
        let schema = check.schema;
        for applied in &schema.applied[run.range()] {
            self.edges.extend(schema.directive_by_name(schema.str(applied.name)).map(|id| id.0));
        }
    }
}

#[derive(Default)]
struct Tarjan {
    /// By node: when it was reached, from 1; 0 before.
    order: Vec<u32>,
    low: Vec<u32>,
    stacked: Vec<bool>,
    stack: Vec<usize>,
    reached: u32,
    /// Directives that are in a circle.
    circular: Vec<usize>,
}

impl Tarjan {
    fn walk(&mut self, graph: &Graph, root: usize) {
        let mut way = vec![(root, graph.starts[root])];
        self.enter(root);
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            if *next < graph.starts[node + 1] {
                let to = graph.edges[*next as usize] as usize;
                *next += 1;
                if self.order[to] == 0 {
                    self.enter(to);
                    way.push((to, graph.starts[to]));
                } else if self.stacked[to] {
                    self.low[node] = self.low[node].min(self.order[to]);
                    if to == node && node < graph.directives {
                        self.circular.push(node);
                    }
                }
                continue;
            }
            way.pop();
            if let Some(&(parent, _)) = way.last() {
                self.low[parent] = self.low[parent].min(self.low[node]);
            }
            if self.low[node] == self.order[node] {
                self.leave(graph, node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.reached += 1;
        self.order[node] = self.reached;
        self.low[node] = self.reached;
        self.stacked[node] = true;
        self.stack.push(node);
    }

    /// Takes the component of `node` off the stack.
    fn leave(&mut self, graph: &Graph, node: usize) {
        let from = self.stack.iter().rposition(|&it| it == node).unwrap_or_default();
        let component = self.stack.split_off(from);
        for &member in &component {
            self.stacked[member] = false;
            if component.len() > 1 && member < graph.directives {
                self.circular.push(member);
            }
        }
    }
}
