//! A Mermaid flowchart, as GitHub draws it in Markdown.

use crate::edges::{EdgeTone, edges};
use crate::label::label;
use crate::nodes::{injector_targets, other_nodes, phase_id, target_id};
use crate::phrase::{remarks, who};
use crate::shared::take_shared;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Phase, Program, Work};

/// The program as a flowchart from top to bottom.
pub fn mermaid(program: &Program) -> String {
    let mut edges = edges(program);
    let shared = take_shared(program, &mut edges);
    let mut text = String::from("flowchart TD\n");
    for id in program.flow(None) {
        write_node(program, id, "    ", &mut text);
    }
    for (id, name) in other_nodes(&edges) {
        text.push_str(&format!("    {id}([\"{}\"]):::ending\n", escape(&name)));
    }
    let injects = injector_targets(program, &edges);
    if !injects.is_empty() {
        text.push_str("    injector{{\"the phase that<br/>injected the defect\"}}:::aside\n");
    }
    for id in injects {
        text.push_str(&format!("    injector -.-> {}\n", phase_id(*id)));
    }
    for edge in &edges {
        let arrow = match edge.tone() {
            EdgeTone::Forward => "-->",
            EdgeTone::Back | EdgeTone::Exhausted | EdgeTone::Raise => "-.->",
        };
        let label = escape(&label(program, edge, &edges).line());
        let to = target_id(program, edge);
        text.push_str(&format!("    {} {arrow}|\"{label}\"| {to}\n", phase_id(edge.from)));
    }
    for one in &shared {
        text.push_str(&format!("    %% everywhere: {}\n", one.phrase(program)));
    }
    for (tone, colour) in
        [(EdgeTone::Back, "#c2410c"), (EdgeTone::Exhausted, "#7c3aed"), (EdgeTone::Raise, "#64748b")]
    {
        // Links are numbered in the order in which they are written.
        let numbers = edges.iter().enumerate().filter(|(_, edge)| edge.tone() == tone);
        let numbers: Vec<String> = numbers.map(|(at, _)| (injects.len() + at).to_string()).collect();
        if !numbers.is_empty() {
            text.push_str(&format!("    linkStyle {} stroke:{colour}\n", numbers.join(",")));
        }
    }
    text.push_str("    classDef aside stroke-dasharray:4 3\n");
    text.push_str("    classDef ending fill:#e2e8f0,stroke:#475569,color:#0f172a\n");
    text
}

/// Writes a phase. A sub-flow becomes a frame, with an inner node for its tally.
fn write_node(program: &Program, id: PhaseId, indent: &str, text: &mut String) {
    let phase = program.phase(id);
    let mut lines = vec![format!("<b>{}</b>", escape(&phase.name)), escape(&who(program, phase))];
    lines.extend(remarks(program, phase).iter().map(|remark| format!("<i>{}</i>", escape(remark))));
    let lines = lines.join("<br/>");
    let (open, close) = shape(phase);
    let class = if phase.aside { ":::aside" } else { "" };
    let node = format!("{}{open}\"{lines}\"{close}{class}\n", phase_id(id));
    let inner: Vec<PhaseId> = program.flow(Some(id)).collect();
    if inner.is_empty() {
        text.push_str(&format!("{indent}{node}"));
        return;
    }
    text.push_str(&format!("{indent}subgraph {}_flow [\"{}\"]\n", phase_id(id), escape(&phase.name)));
    for inner in inner {
        write_node(program, inner, &format!("{indent}    "), text);
    }
    text.push_str(&format!("{indent}    {node}{indent}end\n"));
}

fn shape(phase: &Phase) -> (&'static str, &'static str) {
    match &phase.work {
        Work::Ask { .. } => ("{{", "}}"),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => {
            if phase.aside {
                ("(", ")")
            } else {
                ("[", "]")
            }
        }
    }
}

/// Escapes a string with Mermaid's entities, because a bare quote would end it.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '#' => safe.push_str("#35;"),
            '&' => safe.push_str("#amp;"),
            '"' => safe.push_str("#quot;"),
            '<' => safe.push_str("#lt;"),
            '>' => safe.push_str("#gt;"),
            plain => safe.push(plain),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn quotes_and_angle_brackets_are_entities() {
        let text = mermaid(&sample::program());
        assert!(text.contains("go on #quot;now#quot;") && text.contains("stop given #lt;up#gt;"));
    }

    #[test]
    fn a_remand_is_dashed_and_names_signal_and_budget() {
        assert!(mermaid(&sample::program()).contains("p1 -.->|\"needs-work, block / round\"| p0"));
    }

    #[test]
    fn work_enters_a_sub_flow_at_its_first_phase_and_leaves_at_its_owner() {
        let text = mermaid(&sample::program());
        assert!(text.contains("p1 -->|\"approved\"| p3") && text.contains("p4 -->|\"met\"| p2"));
        assert!(text.contains("subgraph p2_flow [\"tasks\"]"));
    }

    #[test]
    fn link_styles_number_only_links_that_exist() {
        let text = mermaid(&sample::program());
        let links = text.lines().filter(|line| line.contains("->")).count();
        let styled = text.lines().filter_map(|line| line.trim().strip_prefix("linkStyle "));
        let numbers = styled.flat_map(|rest| rest.split(' ').next().unwrap().split(','));
        assert!(numbers.map(|number| number.parse::<usize>().unwrap()).all(|number| number < links));
    }
}
