//! Tries mutants of a change one by one, and concludes from each what the tests notice. Stops once every question is answered.

use super::question::TestInQuestion;
use crate::failure::{assertion_failures, is_short_for};
use crate::result::{CheckEnd, CheckResult};
use crate::spec::CheckSpec;
use remand_kernel::change::TestEnd;
use remand_ledger::BlobId;
use remand_ledger::proof::{MutantFate, ProvenTest, TestOrigin, TestProof, TriedMutant};
use remand_mutants::{AlteredSource, Mutant, MutantKind, probe};
use remand_source::{Language, ParsedSource, is_test_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Digits in the identity of a mutant.
const IDENTITY_DIGITS: usize = 12;

/// A change whose mutants are tried.
#[derive(Clone, Copy)]
pub struct HuntedChange<'h> {
    /// The changed files with production code.
    pub files: &'h [AlteredSource<'h>],
    /// The checks that report tests.
    pub specs: &'h [CheckSpec],
    /// Their results after the change.
    pub head: &'h [CheckResult],
    /// Whether the change decides itself what is equal. Then a mutant must keep the types of values.
    pub decides_equality: bool,
    /// Reads a file of the code.
    pub read: &'h (dyn Fn(&Path) -> Option<String> + Sync),
}

/// A copy of the code to run the checks on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantTrial {
    /// A copy in which every function with one of these mutants fails as soon as it is called. The tests that then fail
    /// are those that reach such a function.
    Probe {
        mutants: Vec<usize>,
        texts: Vec<(PathBuf, String)>,
    },
    Mutant {
        mutant: usize,
        path: PathBuf,
        text: String,
    },
}

impl MutantTrial {
    /// The files that differ from the code.
    pub fn texts(&self) -> Vec<(&Path, &str)> {
        match self {
            MutantTrial::Probe { texts, .. } => {
                texts.iter().map(|(path, text)| (path.as_path(), text.as_str())).collect()
            }
            MutantTrial::Mutant { path, text, .. } => vec![(path, text)],
        }
    }
}

/// What a hunt found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HuntEnd {
    pub tests: Vec<ProvenTest>,
    pub mutants: Vec<TriedMutant>,
    /// Mutants that were not tried.
    pub untried: u32,
    /// Whether a test notices the change.
    pub is_noticed: bool,
}

/// The search for mutants that tests kill.
pub struct MutantHunt<'h> {
    change: HuntedChange<'h>,
    mutants: Vec<Mutant>,
    fates: Vec<Option<(MutantFate, String)>>,
    /// Mutants that are being tried.
    started: BTreeSet<usize>,
    tests: Vec<(TestInQuestion, Option<(TestProof, String)>)>,
    /// The tests that reach a changed function; `None` if that is not known.
    reaching: Option<BTreeSet<(String, String)>>,
    probed: BTreeSet<(PathBuf, String)>,
    is_probed_whole: bool,
    is_noticed: bool,
}

impl<'h> MutantHunt<'h> {
    /// A hunt for these tests. A test with a proof was shown to be able to fail by the code before the change.
    pub fn new(change: HuntedChange<'h>, tests: Vec<(TestInQuestion, Option<TestProof>)>) -> MutantHunt<'h> {
        let mut mutants = remand_mutants::mutants(change.files);
        let keeps_type = |mutant: &Mutant| mutant.kind != MutantKind::Returned;
        if change.decides_equality && mutants.iter().any(keeps_type) {
            mutants.retain(keeps_type);
        }
        let is_noticed = tests.iter().any(|(_, proof)| *proof == Some(TestProof::RedAtBase));
        let fates = vec![None; mutants.len()];
        let tests = tests.into_iter().map(|(test, proof)| (test, proof.map(|proof| (proof, String::new()))));
        MutantHunt {
            change,
            mutants,
            fates,
            started: BTreeSet::new(),
            tests: tests.collect(),
            reaching: None,
            probed: BTreeSet::new(),
            is_probed_whole: false,
            is_noticed,
        }
    }

    /// Whether the change has behaviour that tests could notice.
    pub fn has_mutants(&self) -> bool {
        !self.mutants.is_empty()
    }

    /// The next copy to try; `None` if nothing is left to show.
    pub fn next_trial(&mut self) -> Option<MutantTrial> {
        if self.mutants.is_empty() || self.is_noticed && !self.has_open_tests() {
            return None;
        }
        // If a single kill answers every question, the first mutant may already do so; then no probe is needed.
        let is_probe_due = self.has_open_tests() || self.fates.iter().any(Option::is_some);
        if is_probe_due && !self.is_probed_whole {
            self.is_probed_whole = true;
            let inside =
                (0..self.mutants.len()).filter(|at| !self.mutants[*at].function.is_empty()).collect();
            if let Some(probe) = self.probe(inside) {
                return Some(probe);
            }
        }
        let survivor = (0..self.mutants.len()).find(|at| {
            let is_survivor = matches!(&self.fates[*at], Some((MutantFate::Survived, _)));
            is_survivor
                && !self.mutants[*at].function.is_empty()
                && !self.probed.contains(&self.function(*at))
        });
        if let Some(survivor) = survivor {
            let function = self.function(survivor);
            self.probed.insert(function.clone());
            if let Some(probe) =
                self.probe((0..self.mutants.len()).filter(|at| self.function(*at) == function).collect())
            {
                return Some(probe);
            }
        }
        let mutant =
            (0..self.mutants.len()).find(|at| self.fates[*at].is_none() && !self.started.contains(at))?;
        self.started.insert(mutant);
        let path = self.mutants[mutant].path.clone();
        let text = self.mutants[mutant].apply(self.text(&path)?);
        Some(MutantTrial::Mutant { mutant, path, text })
    }

    /// Records the results of the checks on a copy.
    pub fn record(&mut self, trial: &MutantTrial, results: &[CheckResult]) {
        match trial {
            MutantTrial::Probe { mutants, .. } => self.record_probe(mutants, results),
            MutantTrial::Mutant { mutant, path, text } => self.record_mutant(*mutant, (path, text), results),
        }
    }

    /// What was found out so far.
    pub fn end(self) -> HuntEnd {
        let untried = self.fates.iter().filter(|fate| fate.is_none()).count();
        let has_mutants = !self.mutants.is_empty();
        let is_judged = self.fates.iter().flatten().any(|(fate, _)| *fate != MutantFate::Unjudged);
        let mut identities: BTreeMap<String, u32> = BTreeMap::new();
        let mutants = self.mutants.iter().zip(self.fates).filter_map(|(mutant, fate)| {
            let identity = identity(mutant, &mut identities);
            let (fate, detail) = fate?;
            Some(TriedMutant {
                identity,
                file: mutant.path.display().to_string(),
                line: u32::try_from(mutant.line).unwrap_or(u32::MAX),
                function: mutant.function.clone(),
                kind: mutant.kind.name().to_string(),
                alteration: mutant.alteration.clone(),
                fate,
                detail,
            })
        });
        let mutants = mutants.collect();
        let reaching = &self.reaching;
        let tests = self.tests.into_iter().map(|(test, proof)| {
            let is_unreaching = reaching
                .as_ref()
                .is_some_and(|reaching| !reaching.contains(&(test.check.clone(), test.name.clone())));
            let is_same_before = test.is_green_at_base && test.origin == TestOrigin::Fixed;
            let (proof, detail) = proof.unwrap_or_else(|| {
                let (proof, detail) = if !has_mutants && is_same_before {
                    (TestProof::Nothing, "the change alters no behaviour")
                } else if !has_mutants {
                    (TestProof::Untried, "the change alters no behaviour")
                } else if is_unreaching {
                    (TestProof::Nothing, "it does not run the changed code")
                } else if untried > 0 {
                    (TestProof::Untried, "the time ran out before it noticed a mutant")
                } else if is_judged || is_same_before {
                    (TestProof::Nothing, "it notices no mutant of the change")
                } else {
                    (TestProof::Untried, "no mutant of the change could be judged")
                };
                (proof, detail.to_string())
            });
            ProvenTest { check: test.check, test: test.name, origin: test.origin, proof, detail }
        });
        HuntEnd {
            tests: tests.collect(),
            mutants,
            untried: u32::try_from(untried).unwrap_or(u32::MAX),
            is_noticed: self.is_noticed,
        }
    }

    /// Whether a test that reaches the change is without a proof.
    fn has_open_tests(&self) -> bool {
        self.tests.iter().any(|(test, proof)| {
            let reaches = self
                .reaching
                .as_ref()
                .is_none_or(|reaching| reaching.contains(&(test.check.clone(), test.name.clone())));
            proof.is_none() && reaches
        })
    }

    fn function(&self, mutant: usize) -> (PathBuf, String) {
        (self.mutants[mutant].path.clone(), self.mutants[mutant].function.clone())
    }

    fn text(&self, path: &Path) -> Option<&'h str> {
        self.change.files.iter().find(|file| file.path == path).map(|file| file.text)
    }

    fn probe(&self, mutants: Vec<usize>) -> Option<MutantTrial> {
        let chosen: Vec<&Mutant> = mutants.iter().map(|at| &self.mutants[*at]).collect();
        let texts: BTreeMap<PathBuf, String> = self
            .change
            .files
            .iter()
            .filter_map(|file| Some((file.path.to_path_buf(), probe(file, &chosen)?)))
            .collect();
        let mutants = mutants.into_iter().filter(|at| texts.contains_key(&self.mutants[*at].path)).collect();
        (!texts.is_empty()).then(|| MutantTrial::Probe { mutants, texts: texts.into_iter().collect() })
    }

    fn record_probe(&mut self, mutants: &[usize], results: &[CheckResult]) {
        let mut failing = BTreeSet::new();
        for (head, now) in self.pairs(results) {
            if !now.counts() {
                return;
            }
            let passes: BTreeSet<&str> = passing(now).collect();
            // A process that the probe ended has no result for its other tests.
            failing.extend(
                passing(head)
                    .filter(|test| !passes.contains(test))
                    .map(|test| (head.name.clone(), test.to_string())),
            );
        }
        if failing.is_empty() {
            for at in mutants {
                if self.fates[*at].is_none() || matches!(self.fates[*at], Some((MutantFate::Survived, _))) {
                    self.fates[*at] = Some((MutantFate::NotReached, String::new()));
                }
            }
        }
        if mutants.iter().map(|at| self.function(*at)).collect::<BTreeSet<_>>().len() == 1 {
            self.probed.extend(mutants.first().map(|at| self.function(*at)));
        }
        // Tests may reach code outside functions, which no probe shows.
        if mutants.len() == self.mutants.len() && self.reaching.is_none() {
            self.reaching = Some(failing);
        }
    }

    fn record_mutant(&mut self, mutant: usize, (path, text): (&Path, &str), results: &[CheckResult]) {
        let asserts_at = |file: &str, line: usize| {
            let file = Path::new(file);
            let text = if file == path { Some(text.to_string()) } else { (self.change.read)(file) };
            text.is_some_and(|text| asserts_in_test_code(file, &text, line))
        };
        let mut killers: Vec<(String, String)> = Vec::new();
        let mut unjudged = None;
        for (head, now) in self.pairs(results) {
            let passed: BTreeSet<&str> = passing(head).collect();
            let failed: Vec<&str> = now
                .tests
                .iter()
                .filter(|test| test.end == TestEnd::Failed && passed.contains(test.name.as_str()))
                .map(|test| test.name.as_str())
                .collect();
            let parser = self.change.specs.iter().find(|spec| spec.name == now.name).map(|spec| spec.parser);
            let Some(parser) = parser else { continue };
            let by_assertion = assertion_failures(parser, &String::from_utf8_lossy(&now.output), &asserts_at);
            let of_check: Vec<(String, String)> = failed
                .iter()
                .filter(|test| by_assertion.iter().any(|name| is_short_for(name, test)))
                .map(|test| (now.name.clone(), test.to_string()))
                .collect();
            if of_check.is_empty() && !now.passed() {
                unjudged = Some(why_unjudged(now, !failed.is_empty()));
            }
            killers.extend(of_check);
        }
        let sentence = self.mutants[mutant].sentence();
        self.started.remove(&mutant);
        self.fates[mutant] = Some(match (killers.first(), unjudged) {
            (Some((_, test)), _) => (MutantFate::Killed, test.clone()),
            (None, Some(why)) => (MutantFate::Unjudged, why),
            (None, None) => (MutantFate::Survived, String::new()),
        });
        self.is_noticed |= !killers.is_empty();
        for (test, proof) in self.tests.iter_mut().filter(|(_, proof)| proof.is_none()) {
            if killers.iter().any(|(check, name)| *check == test.check && *name == test.name) {
                *proof = Some((TestProof::KillsMutant, sentence.clone()));
            }
        }
    }

    /// Each result with that of the same check after the change.
    fn pairs<'r>(
        &'r self,
        results: &'r [CheckResult],
    ) -> impl Iterator<Item = (&'h CheckResult, &'r CheckResult)> {
        let head = |now: &CheckResult| self.change.head.iter().find(|head| head.name == now.name);
        results.iter().filter_map(move |now| Some((head(now)?, now)))
    }
}

fn passing(result: &CheckResult) -> impl Iterator<Item = &str> {
    result.tests.iter().filter(|test| test.end == TestEnd::Passed).map(|test| test.name.as_str())
}

fn why_unjudged(result: &CheckResult, has_failed: bool) -> String {
    let why = match result.end {
        CheckEnd::TimedOut => "its tests took too long",
        _ if has_failed => "a test failed, but not by an assertion",
        _ if result.tests.is_empty() => "it does not build",
        _ => "the check failed without a failed assertion",
    };
    why.to_string()
}

/// Whether a line of test code asserts something.
pub fn asserts_in_test_code(path: &Path, text: &str, line: usize) -> bool {
    let Some(source) = Language::of(path).and_then(|language| ParsedSource::parse(language, text)) else {
        return false;
    };
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = start + text.get(start..).and_then(|rest| rest.find('\n')).unwrap_or(0);
    let shown = text.get(start..end).unwrap_or_default();
    (shown.contains("assert") || shown.contains("panic!"))
        && (is_test_file(path)
            || source.test_code().iter().any(|range| range.contains(&start) || range.contains(&end)))
}

/// Equal for the same alteration of the same function, wherever the function is.
fn identity(mutant: &Mutant, seen: &mut BTreeMap<String, u32>) -> String {
    let text = format!(
        "{}\n{}\n{}\n{}",
        mutant.path.display(),
        mutant.function,
        mutant.kind.name(),
        mutant.alteration
    );
    let number = seen.entry(text.clone()).or_insert(0);
    *number += 1;
    let id = BlobId::of(format!("{text}\n{number}").as_bytes()).to_string();
    id.chars().take(IDENTITY_DIGITS).collect()
}
