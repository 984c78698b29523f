//! The groups in which help, manual page and reference list the commands.

use clap::Command;
use remand_terminal::line;
use std::fmt::Write;

/// The width of the help, in columns.
const WIDTH: usize = 80;

/// Commands for one purpose.
pub struct CommandGroup {
    pub heading: &'static str,
    pub commands: &'static [&'static str],
}

impl CommandGroup {
    /// The program with only the commands of this group visible, below its heading.
    pub fn commands_of(&self, program: &Command) -> Command {
        let shown = program.clone().subcommand_help_heading(self.heading);
        shown.mut_subcommands(|command| {
            match self.commands.iter().position(|name| *name == command.get_name()) {
                Some(at) => command.display_order(at),
                None => command.hide(true),
            }
        })
    }
}

/// All commands for people. The help describes those of the first group and only names the others.
pub const GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        heading: "Everyday commands",
        commands: &[
            "run", "vet", "land", "status", "gates", "answer", "resume", "retry", "cancel", "diff",
            "evidence", "publish", "issues", "ticket", "doctor", "init",
        ],
    },
    CommandGroup {
        heading: "Look at runs",
        commands: &[
            "top", "serve", "runs", "log", "findings", "output", "show", "costs", "gaps", "rounds",
            "defects", "stats", "estimate",
        ],
    },
    CommandGroup { heading: "Prove", commands: &["demo", "audit", "record", "gauntlet", "bench"] },
    CommandGroup {
        heading: "Write workflows",
        commands: &[
            "workflows",
            "check",
            "bound",
            "simulate",
            "matrix",
            "graph",
            "brief",
            "walk",
            "reference",
            "import",
            "export",
        ],
    },
    CommandGroup {
        heading: "Plumbing",
        commands: &["agents", "config", "mcp", "notify", "rollback", "clean", "completions", "man"],
    },
];

/// Lists the commands by group in the help of the whole program.
pub fn arrange(command: Command) -> Command {
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_string();
    let [everyday, others @ ..] = &GROUPS;
    let _ = write!(text, "\n{header}{}:{header:#}\n", everyday.heading);
    for name in everyday.commands {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        for (at, about) in line::wrap(&about, WIDTH - 12).iter().enumerate() {
            let lead = line::pad(if at == 0 { name } else { "" }, 8);
            let _ = writeln!(text, "  {literal}{lead}{literal:#}  {about}");
        }
    }
    text.push('\n');
    let indent = others.iter().map(|group| group.heading.len()).max().unwrap_or(0) + 3;
    for group in others {
        let heading = line::pad(&format!("{}:", group.heading), indent);
        for (at, names) in line::wrap(&group.commands.join(" "), WIDTH - indent).iter().enumerate() {
            let lead = if at == 0 { heading.clone() } else { " ".repeat(indent) };
            let _ = writeln!(text, "{header}{lead}{header:#}{literal}{names}{literal:#}");
        }
    }
    let _ = write!(
        text,
        "\n`remand help COMMAND` explains a command. Without a command, `remand` shows\n\
         what it finds in this folder, and what to do next.\n\n{header}Options:{header:#}\n{{options}}\n"
    );
    text
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::cli::RemandCli;
    use clap::CommandFactory;

    #[test]
    fn every_command_for_people_is_in_one_group() {
        let command = RemandCli::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(visible, grouped, "put a new command into one group of GROUPS");
    }

    #[test]
    fn the_reference_lists_every_command_in_its_group() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");
        let page = std::fs::read_to_string(path).expect("the reference");
        for group in &GROUPS {
            let heading = format!("\n## {}\n", group.heading);
            let (_, after) = page.split_once(&heading).expect(group.heading);
            let section = after.split("\n## ").next().unwrap_or_default();
            for name in group.commands {
                let lead = format!("`{name}");
                let is_listed = section.lines().filter(|line| line.starts_with('|')).any(|line| {
                    line.match_indices(&lead).any(|(at, _)| line[at + lead.len()..].starts_with(['`', ' ']))
                });
                assert!(
                    is_listed,
                    "`{name}` is not below `## {}` in docs/reference/commands.md",
                    group.heading
                );
            }
        }
    }
}
