//! Tests that failed before the change: which of them must pass now, and which may stay red.
//!
//! The decision rests on the request, the code at the base and the change, never on what an agent says about it.

mod mention;
mod subject;
mod touch;

#[cfg(test)]
mod red_tests;

use super::integrity::Edited;
use std::collections::BTreeSet;
use touch::CodeChange;

pub use mention::Wording;
pub use subject::{BaseFile, TestSubject};

/// The texts and files that decide about the tests that failed before the change.
#[derive(Clone, Copy, Debug)]
pub struct RedContext<'c> {
    /// The user's words: the request, the issue or the ticket. Empty for one of several tasks.
    pub request: &'c str,
    /// The text of the task, or of all tasks.
    pub plan: &'c str,
    /// The text of the other tasks.
    pub other_tasks: &'c str,
    /// The code at the base.
    pub code: &'c [BaseFile],
    /// The files that the change touches; `None` before any change.
    pub change: Option<&'c [Edited]>,
    pub coverage: NewCoverage,
}

/// Whether the change comes with a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewCoverage {
    /// A new test passes.
    Tested,
    Untested,
}

/// A test that failed before the change, and whether it must pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedTest {
    /// As the runner names it.
    pub name: String,
    pub ruling: RedRuling,
    /// A clause that completes "because".
    pub why: String,
    /// Whether the words of the request or the plan want it to pass, whatever the change does.
    pub is_wanted: bool,
}

/// Whether a test that failed before the change must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedRuling {
    MustPass,
    MayStayRed,
    /// It may stay red, but nothing shows that the work is about something else.
    Unclear,
}

/// Rules on each of these tests.
pub fn rule_on_red_tests(tests: &BTreeSet<String>, context: &RedContext<'_>) -> Vec<RedTest> {
    let subjects: Vec<TestSubject> = tests.iter().map(|name| TestSubject::find(name, context.code)).collect();
    let judge = Judge {
        context,
        request: Wording::new(context.request),
        plan: Wording::new(context.plan),
        other_tasks: Wording::new(context.other_tasks),
        change: context.change.map(CodeChange::new),
    };
    let names_one = subjects.iter().any(|subject| judge.named(subject).is_some());
    subjects.iter().map(|subject| judge.rule(subject, names_one)).collect()
}

struct Judge<'j> {
    context: &'j RedContext<'j>,
    request: Wording,
    plan: Wording,
    other_tasks: Wording,
    change: Option<CodeChange>,
}

impl Judge<'_> {
    fn rule(&self, subject: &TestSubject, names_one: bool) -> RedTest {
        let (ruling, why) = self.ruling(subject, names_one);
        let is_wanted = self.named(subject).is_some() || self.request.asks_for_green_tests() && !names_one;
        RedTest { name: subject.name.clone(), ruling, why, is_wanted }
    }

    fn ruling(&self, subject: &TestSubject, names_one: bool) -> (RedRuling, String) {
        if let Some(why) = self.named(subject) {
            return (RedRuling::MustPass, why);
        }
        if self.request.asks_for_green_tests() && !names_one {
            return (RedRuling::MustPass, "the request asks for passing tests".to_string());
        }
        let unconcerned = || "neither the request nor the change concerns it".to_string();
        let Some(change) = &self.change else {
            return (RedRuling::MayStayRed, "the request does not concern it".to_string());
        };
        if let Some(touched) = change.touched_by(subject) {
            return match self.other_tasks.mention_of(subject) {
                Some(_) => (RedRuling::MayStayRed, "another task is about it".to_string()),
                None => (RedRuling::MustPass, format!("the change touches {touched}")),
            };
        }
        let wordings = [&self.request, &self.plan];
        let is_asked_for = wordings.iter().any(|wording| change.is_named_in(wording));
        if !change.has_code() && !is_asked_for && !wordings.iter().any(|wording| wording.is_about_documents())
        {
            let why = "the change contains no code, and nothing shows that only documents were asked for";
            return (RedRuling::MustPass, why.to_string());
        }
        if !subject.is_found {
            return (RedRuling::Unclear, "its source was not found".to_string());
        }
        if is_asked_for || !change.has_code() || self.context.coverage == NewCoverage::Tested {
            return (RedRuling::MayStayRed, unconcerned());
        }
        let why = format!("{}, but no new test covers the change either", unconcerned());
        (RedRuling::Unclear, why)
    }

    /// How the request or the plan names a test.
    fn named(&self, subject: &TestSubject) -> Option<String> {
        let in_request = self.request.mention_of(subject).map(|what| format!("the request names {what}"));
        in_request.or_else(|| self.plan.mention_of(subject).map(|what| format!("the task names {what}")))
    }
}
