//! `remand vet`: judges a change that anybody made, by the checks of its base.

use crate::attestation;
use crate::context::CommandContext;
use crate::environment;
use crate::given::{ChangeArg, Declared};
use crate::hook::{self, HookCall};
use crate::request_text::RequestText;
use crate::vetting::{Vetted, Vetting, flag};
use crate::workplace::{self, Workplace};
use remand_engine::config::Flag;
use remand_engine::sealed;
use remand_reports::{ChangeReport, ChangeVerdict, ReportForm};
use remand_terminal::output::{print, tell};
use remand_terminal::table::terminal_width;
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, line};
use std::path::{Path, PathBuf};

/// The workflow that also has an agent review the change.
const REVIEW: &str = "vet-review";

/// The names of the forms, for the command line.
const FORMS: [&str; 7] = ["text", "json", "markdown", "sarif", "junit", "github", "in-toto"];

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A range such as main..feature, a branch or a commit [default: the current branch, since it left the default branch]
    #[arg(value_name = "BASE..HEAD|BRANCH", conflicts_with_all = ["staged", "uncommitted", "patch", "merge_of"])]
    pub change: Option<String>,
    /// The staged changes
    #[arg(long, conflicts_with_all = ["uncommitted", "patch", "merge_of"])]
    pub staged: bool,
    /// Everything in the checkout that is not ignored, committed or not
    #[arg(long, conflicts_with_all = ["patch", "merge_of"])]
    pub uncommitted: bool,
    /// A patch on top of the current commit; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "merge_of")]
    pub patch: Option<PathBuf>,
    /// The merge of these branches onto the default branch, in this order
    #[arg(long, value_name = "BRANCH", num_args = 1..)]
    pub merge_of: Vec<String>,
    /// Compare with this revision; settings, checks and tests come from there
    #[arg(long, value_name = "REVISION")]
    pub base: Option<String>,
    /// What the change is for, or a file that says it; tests that it names may change
    #[arg(long, value_name = "TEXT|FILE")]
    pub request: Option<String>,
    /// A test or file that may change, by name
    #[arg(long, value_name = "TEST|FILE")]
    pub release: Vec<String>,
    /// The form of the report on standard output [default: text]
    #[arg(long, value_name = "FORM", value_parser = FORMS)]
    pub format: Option<String>,
    /// Also write the report to a file, such as `sarif=vet.sarif`
    #[arg(long, value_name = "FORM=FILE", value_parser = parse_report)]
    pub report: Vec<(ReportForm, PathBuf)>,
    /// Also write the signed evidence bundle to this new folder
    #[arg(long, value_name = "DIR")]
    pub bundle: Option<PathBuf>,
    /// Report only: the exit code is 0 whatever the verdict
    #[arg(long)]
    pub audit: bool,
    /// Run every check, even if its result is cached
    #[arg(long)]
    pub no_cache: bool,
    /// Whether new and changed tests must be able to fail [default: on, unless the base's settings say otherwise]
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"], num_args = 0..=1, default_missing_value = "on", require_equals = true)]
    pub prove: Option<String>,
    /// Have an agent review a change that passes
    #[arg(long)]
    pub review: bool,
    /// The agent that reviews: one that `remand agents` lists, or `rehearsal:FILE` for a script
    #[arg(long, short, value_name = "AGENT", requires = "review")]
    pub agent: Option<String>,
    /// The model that reviews, by the name that the agent uses
    #[arg(long, short, value_name = "MODEL", requires = "review")]
    pub model: Option<String>,
    /// Who asks, for programs that vet a change in the user's name
    #[arg(long, hide = true, value_name = "WHO")]
    pub by: Option<String>,
    /// Answer a Stop hook of a coding agent: report what is missing, at most once
    #[arg(long, conflicts_with_all = ["format", "audit"])]
    pub hook: bool,
}

impl Args {
    fn change(&self) -> ChangeArg {
        if let Some(revision) = &self.change {
            ChangeArg::Revision(revision.clone())
        } else if self.staged {
            ChangeArg::Staged
        } else if let Some(file) = &self.patch {
            ChangeArg::Patch(file.clone())
        } else if !self.merge_of.is_empty() {
            ChangeArg::MergeOf(self.merge_of.clone())
        } else if self.uncommitted || self.hook {
            ChangeArg::Uncommitted
        } else {
            ChangeArg::Current
        }
    }

    fn vetting(&self, context: &CommandContext<'_>) -> Result<Vetting, CommandFailure> {
        let request = self.request.as_deref();
        let purpose = request.map(|given| RequestText::read(given, &workplace::here(context))).transpose()?;
        Ok(Vetting {
            change: self.change(),
            declared: Declared {
                base: self.base.clone(),
                purpose: purpose.map(|purpose| purpose.text).unwrap_or_default(),
                releases: self.release.clone(),
                by: self.by.clone().unwrap_or_else(environment::user),
            },
            flags: self.flags(),
        })
    }

    fn flags(&self) -> Vec<Flag> {
        let named = [
            ("--workflow", "workflow", self.review.then_some(REVIEW)),
            ("--agent", "agent", self.agent.as_deref()),
            ("--model", "model", self.model.as_deref()),
            ("--no-cache", "checks.cache", self.no_cache.then_some("false")),
            (
                "--prove",
                "checks.prove",
                self.prove.as_deref().map(|on| if on == "on" { "true" } else { "false" }),
            ),
        ];
        named.into_iter().filter_map(|(option, key, value)| Some(flag(option, key, value?))).collect()
    }

    fn form(&self, context: &CommandContext<'_>) -> ReportForm {
        let named = self.format.as_deref().and_then(ReportForm::by_name);
        named.unwrap_or(if context.json { ReportForm::Json } else { ReportForm::Text })
    }
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let call = if args.hook { Some(HookCall::read()?) } else { None };
    if call.as_ref().is_some_and(HookCall::is_answered) {
        return Ok(ExitCode::Done);
    }
    let Vetted::Judged { workplace, report } = args.vetting(context)?.judge(context)? else {
        return Ok(ExitCode::Interrupted);
    };
    for (form, file) in &args.report {
        write(&workplace, &report, *form, file)?;
    }
    if let Some(folder) = &args.bundle {
        bundle(&workplace, &report, folder)?;
    }
    if let Some(call) = call {
        return hook::answer(&call, &workplace, &report);
    }
    let form = args.form(context);
    let text = rendered(&workplace, &report, form)?;
    match form {
        ReportForm::Text => print(&painted(&report, &text))?,
        ReportForm::Json
        | ReportForm::Markdown
        | ReportForm::Sarif
        | ReportForm::Junit
        | ReportForm::Github
        | ReportForm::InToto => print(&text)?,
    }
    Ok(if args.audit { ExitCode::Done } else { exit(report.verdict) })
}

/// The exit code of a verdict.
pub fn exit(verdict: ChangeVerdict) -> ExitCode {
    match verdict {
        ChangeVerdict::Pass => ExitCode::Done,
        ChangeVerdict::Fail => ExitCode::VetFailed,
        ChangeVerdict::Unmeasured => ExitCode::Unmeasured,
        ChangeVerdict::Blocked => ExitCode::Blocked,
    }
}

/// The text, wrapped for a terminal, with its headline in the colour of the verdict.
pub fn painted(report: &ChangeReport, text: &str) -> String {
    let wrapped = terminal_width().map(|columns| {
        let lines = text.lines().flat_map(|line| line::below_column(line, columns));
        lines.fold(String::new(), |text, line| text + &line + "\n")
    });
    let text = wrapped.as_deref().unwrap_or(text);
    let tone = match report.verdict {
        ChangeVerdict::Pass => Tone::Good,
        ChangeVerdict::Fail => Tone::Bad,
        ChangeVerdict::Unmeasured | ChangeVerdict::Blocked => Tone::Doubtful,
    };
    match text.split_once('\n') {
        Some((headline, rest)) => format!("{}\n{rest}", Ink::of_stdout().paint(tone, headline)),
        None => text.to_string(),
    }
}

/// The report in a form; a statement is signed.
fn rendered(
    workplace: &Workplace,
    report: &ChangeReport,
    form: ReportForm,
) -> Result<String, CommandFailure> {
    match form {
        ReportForm::InToto => attestation::sign(workplace, report),
        ReportForm::Text
        | ReportForm::Json
        | ReportForm::Markdown
        | ReportForm::Sarif
        | ReportForm::Junit
        | ReportForm::Github => Ok(form.render(report)),
    }
}

fn write(
    workplace: &Workplace,
    report: &ChangeReport,
    form: ReportForm,
    file: &Path,
) -> Result<(), CommandFailure> {
    let path = workplace.here.join(file);
    std::fs::write(&path, rendered(workplace, report, form)?).map_err(|error| {
        let what = format!("the report cannot be written to {}", path.display());
        CommandFailure::user(what, "name a file in a folder that exists").caused_by(error.to_string())
    })
}

fn bundle(workplace: &Workplace, report: &ChangeReport, folder: &Path) -> Result<(), CommandFailure> {
    let reader = workplace.reader()?;
    let row = reader.run(&report.run)?;
    let (key, folder) = (workplace.home.signing_key(), workplace.here.join(folder));
    let manifest = sealed::seal(&reader, &row.run, &key, &folder)
        .map_err(|error| CommandFailure::user(error.to_string(), error.hint()))?;
    tell(&format!("sealed in {}, signed by key {}", folder.display(), manifest.key));
    Ok(())
}

/// Reads `FORM=FILE`.
fn parse_report(text: &str) -> Result<(ReportForm, PathBuf), String> {
    let (form, file) =
        text.split_once('=').ok_or("a report is written as FORM=FILE, such as sarif=vet.sarif")?;
    let form = ReportForm::by_name(form)
        .ok_or_else(|| format!("`{form}` is not a form; the forms are {}", FORMS.join(", ")))?;
    if file.is_empty() {
        return Err("name a file after the `=`".to_string());
    }
    Ok((form, PathBuf::from(file)))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // BY-02
    #[test]
    fn every_form_has_a_name_and_every_verdict_an_exit_code_of_its_own() {
        assert_eq!(ReportForm::ALL.map(ReportForm::name), FORMS);
        let codes = ChangeVerdict::ALL.map(|verdict| exit(verdict).number());
        assert_eq!(codes, [0, 10, 11, 12]);
        assert_eq!(
            parse_report("junit=a=b.xml").expect("a report"),
            (ReportForm::Junit, PathBuf::from("a=b.xml"))
        );
        for wrong in ["junit", "pdf=x", "sarif="] {
            assert!(parse_report(wrong).is_err(), "{wrong}");
        }
    }
}
