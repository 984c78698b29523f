//! Checks: commands and analyses that the engine runs itself to see whether work is correct.
//!
//! `detect` and `specs` determine the checks before a run. A `CheckPlan` decides which checks must run, a
//! `Workbench` runs them, `compare` turns results into findings, and an `Occasion` turns them into facts and rows. The
//! crate knows nothing about workflows, and agents cannot influence it.

mod action;
mod spec;

mod affected;
mod choice;
mod detect;
mod members;
mod names;
mod order;
mod probe;
mod project;
mod toolchain;

mod result;

mod key;
mod plan;
mod test_data;
mod tool_version;

mod context;
mod copied;
mod environments;
mod installed;
mod job;
mod run;
mod syntax;
mod tree_files;
mod workbench;

mod location;
mod parsers;
mod snippet;

mod readiness;
mod smoke;

mod asked;
mod compare;
mod deciding;
mod doubt;
mod failure;
mod integrity;
mod red;
mod stored;

mod old_tests;
mod proof;
mod sides;

mod plant;
mod provable;

#[cfg(test)]
mod detect_tests;
#[cfg(test)]
mod members_tests;
#[cfg(test)]
mod projects_tests;
#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod smoke_tests;

pub use action::{BuiltIn, CheckAction};
pub use affected::{LeftOut, TaskChange, left_out};
pub use choice::{CheckChoice, CommandLine};
pub use compare::{compare, compare_except, still_red};
pub use context::{BaseFiles, CheckContext, CheckSandbox, FileScope, private_folders};
pub use copied::{remove_old as remove_old_copies, usual as usual_copies};
pub use detect::detect;
pub use doubt::{EarlierPass, doubt};
pub use failure::{FailureKind, failures, kind_of, may_be_silent};
pub use installed::{AddedPackages, add_copies, hook_files, link, link_for_detection, program_file, unlink};
pub use integrity::{
    Announced, Announcer, BeforeChange, Edited, HadTests, Integrity, ends_with_name, ends_with_title,
    integrity, is_about_tests, may_concern_tests,
};
pub use job::NO_NETWORK;
pub use key::{Conditions, KnownResults, installed};
pub use members::{Member, Members, Naming};
pub use names::{ChangedNames, misleading_names};
pub use old_tests::{
    BrokenHow, BrokenTest, GoneNames, Mended, Release, accepted_files, broken, expected, mend,
};
pub use order::{Detected, SpecError, specs};
pub use plan::{CheckPlan, CheckRequest, CheckRun, Selection};
pub use plant::{Plant, PlantedFailure, plant};
pub use probe::ToolProbe;
pub use proof::{
    HuntEnd, HuntedChange, MutantHunt, MutantTrial, TestInQuestion, asserts_in_test_code, at_base,
    tests_in_question,
};
pub use provable::why_unprovable;
pub use readiness::{Leak, readiness};
pub use red::{BaseFile, NewCoverage, RedContext, RedRuling, RedTest, rule_on_red_tests};
pub use result::{CheckEnd, CheckResult, Steadiness, StoredBlobs, TestListing};
pub use run::{run_check, run_plan};
pub use sides::{BaseSources, ChangedFile, Composition, FileVersion, Half, Reason, Side, Sides};
pub use smoke::{hangs, has_runtime_signal, loading, skipped_as_server, smoke, tier_3_results};
pub use snippet::most_informative_line;
pub use spec::{CheckScope, CheckSpec, Parser};
pub use stored::{CheckFacts, Occasion, ReadBack, StoredError, read_back};
pub use tool_version::ToolVersions;
pub use toolchain::cargo::TARGET_FOLDER;
pub use workbench::{BenchError, BenchSetup, CheckProgress, CheckWatch, Workbench};
