//! A Graphviz graph.

use crate::edges::{EdgeTone, edges};
use crate::label::label;
use crate::nodes::{injector_targets, other_nodes, phase_id, target_id};
use crate::phrase::{remarks, who};
use crate::shared::take_shared;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Program, Work};

/// The program as input for `dot -Tsvg`.
pub fn dot(program: &Program) -> String {
    let mut edges = edges(program);
    let shared = take_shared(program, &mut edges);
    let notes: Vec<String> = shared.iter().map(|one| one.phrase(program)).collect();
    let title = [vec![format!("{}: {}", program.name, program.about)], notes].concat().join("\n");
    let mut text = format!("digraph {} {{\n", quote(&program.name));
    text.push_str(&format!(
        "    label={}; labelloc=t; fontname=\"sans-serif\"; newrank=true;\n",
        quote(&title)
    ));
    text.push_str(
        "    node [shape=box, fontname=\"sans-serif\", fontsize=11, style=filled, fillcolor=white];\n",
    );
    text.push_str("    edge [fontname=\"sans-serif\", fontsize=9];\n");
    for id in program.flow(None) {
        write_node(program, id, "    ", &mut text);
    }
    for (id, name) in other_nodes(&edges) {
        text.push_str(&format!(
            "    {id} [label={}, style=\"rounded,filled\", fillcolor=\"#e2e8f0\"];\n",
            quote(&name)
        ));
    }
    let injects = injector_targets(program, &edges);
    if !injects.is_empty() {
        text.push_str(
            "    injector [label=\"the phase that\\ninjected the defect\", shape=hexagon, style=dashed];\n",
        );
    }
    for id in injects {
        text.push_str(&format!("    injector -> {} [{BACK}];\n", phase_id(*id)));
    }
    for edge in &edges {
        let style = match edge.tone() {
            EdgeTone::Forward => "color=\"#334155\"",
            EdgeTone::Back => BACK,
            EdgeTone::Exhausted => "style=dashed, color=\"#7c3aed\", fontcolor=\"#7c3aed\", constraint=false",
            EdgeTone::Raise => "style=dotted, color=\"#64748b\"",
        };
        let label = quote(&label(program, edge, &edges).line());
        let to = target_id(program, edge);
        text.push_str(&format!("    {} -> {to} [label={label}, {style}];\n", phase_id(edge.from)));
    }
    text.push_str("}\n");
    text
}

/// A back edge must not pull its target below its source.
const BACK: &str = "style=dashed, color=\"#c2410c\", fontcolor=\"#c2410c\", constraint=false";

fn write_node(program: &Program, id: PhaseId, indent: &str, text: &mut String) {
    let phase = program.phase(id);
    let lines = [vec![phase.name.clone(), who(program, phase)], remarks(program, phase)].concat().join("\n");
    let shape = match &phase.work {
        Work::Ask { .. } => "hexagon",
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => "box",
    };
    let style = if phase.aside { "rounded,dashed,filled" } else { "filled" };
    let node =
        format!("{} [label={}, shape={shape}, style={}];\n", phase_id(id), quote(&lines), quote(style));
    let inner: Vec<PhaseId> = program.flow(Some(id)).collect();
    if inner.is_empty() {
        text.push_str(&format!("{indent}{node}"));
        return;
    }
    text.push_str(&format!("{indent}subgraph cluster_{} {{\n", phase_id(id)));
    text.push_str(&format!("{indent}    label={}; style=rounded; color=\"#94a3b8\";\n", quote(&phase.name)));
    for inner in inner {
        write_node(program, inner, &format!("{indent}    "), text);
    }
    text.push_str(&format!("{indent}    {node}{indent}}}\n"));
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn quotes_are_escaped_and_braces_are_balanced() {
        let text = dot(&sample::program());
        assert!(text.contains("label=\"go on \\\"now\\\"\""));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn a_sub_flow_is_a_cluster() {
        assert!(dot(&sample::program()).contains("subgraph cluster_p2"));
    }
}
