//! How our types are stored in SQLite columns.

use crate::fact::{BlobId, MalformedCause, Millis, NoteKind, RunId};
use crate::proof::{MutantFate, TestOrigin, TestProof};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::{Category, FindingKind, Severity};
use remand_kernel::state::FiledStatus;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl ToSql for BlobId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for BlobId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<BlobId> {
        <[u8; 32]>::column_result(value).map(BlobId)
    }
}

impl ToSql for RunId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for RunId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<RunId> {
        String::column_result(value).map(RunId)
    }
}

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Millis> {
        i64::column_result(value).map(Millis)
    }
}

/// A count as a SQLite integer; one that is too large becomes the maximum.
pub(crate) fn sql_integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count, read from a column.
pub(crate) struct Count(pub u64);

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Count> {
        let number = i64::column_result(value)?;
        u64::try_from(number).map(Count).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

/// A value stored as JSON in a text column.
pub(crate) struct Json<T>(pub T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Json<T>> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = serde_json::to_string(&self.0);
        json.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

/// An enum value, read from its word in a column.
pub(crate) struct Word<T>(pub T);

impl<T: ColumnWord> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Word<T>> {
        let text = value.as_str()?;
        let value = T::ALL.iter().find(|value| value.word() == text).copied();
        value.map(Word).ok_or_else(|| FromSqlError::other(UnknownWord(text.to_string())))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a valid value of this column")]
struct UnknownWord(String);

/// An enum that a column stores as a word.
pub(crate) trait ColumnWord: Copy + 'static {
    const ALL: &'static [Self];
    fn word(self) -> &'static str;
}

macro_rules! column_words {
    ($($type:ty { $($value:path => $word:literal),* $(,)? })*) => {$(
        impl $crate::column::ColumnWord for $type {
            const ALL: &'static [Self] = &[$($value),*];

            fn word(self) -> &'static str {
                match self {
                    $($value => $word),*
                }
            }
        }
    )*};
}

pub(crate) use column_words;

column_words! {
    RowPhase {
        RowPhase::Baseline => "baseline",
        RowPhase::After => "after",
        RowPhase::Review => "review",
    }
    Severity {
        Severity::Minor => "minor",
        Severity::Major => "major",
        Severity::Critical => "critical",
        Severity::Blocker => "blocker",
    }
    Category {
        Category::Security => "security",
        Category::Correctness => "correctness",
        Category::Performance => "performance",
        Category::Maintainability => "maintainability",
        Category::Design => "design",
    }
    FindingKind {
        FindingKind::Plan => "plan",
        FindingKind::Test => "test",
        FindingKind::Production => "production",
        FindingKind::Cosmetic => "cosmetic",
    }
    FiledStatus {
        FiledStatus::Open => "open",
        FiledStatus::FollowUp => "follow-up",
        FiledStatus::Advice => "advice",
        FiledStatus::Superseded => "superseded",
        FiledStatus::PassedOn => "passed-on",
        FiledStatus::Settled => "settled",
    }
    NoteKind {
        NoteKind::Degradation => "degradation",
        NoteKind::Violation => "violation",
        NoteKind::Concern => "concern",
        NoteKind::Warning => "warning",
        NoteKind::Decision => "decision",
        NoteKind::Lesson => "lesson",
        NoteKind::Regression => "regression",
        NoteKind::Proposal => "proposal",
        NoteKind::Unenforced => "unenforced",
        NoteKind::Mapped => "mapped",
        NoteKind::Interrupted => "interrupted",
    }
    TestOrigin {
        TestOrigin::New => "new",
        TestOrigin::Changed => "changed",
        TestOrigin::Fixed => "fixed",
    }
    TestProof {
        TestProof::RedAtBase => "red-at-base",
        TestProof::MissingAtBase => "missing-at-base",
        TestProof::KillsMutant => "kills-mutant",
        TestProof::Nothing => "nothing",
        TestProof::Untried => "untried",
    }
    MutantFate {
        MutantFate::Killed => "killed",
        MutantFate::Survived => "survived",
        MutantFate::NotReached => "not-reached",
        MutantFate::Unjudged => "unjudged",
    }
    MalformedCause {
        MalformedCause::Missing => "missing",
        MalformedCause::TooShort => "too-short",
        MalformedCause::UnassignedGap => "unassigned-gap",
        MalformedCause::WrongForm => "wrong-form",
    }
}

/// The number of a tier.
pub(crate) fn tier_number(tier: Option<Tier>) -> Option<u8> {
    tier.map(u8::from)
}

/// A tier, read from a column.
pub(crate) struct TierColumn(pub Tier);

impl FromSql for TierColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<TierColumn> {
        Tier::try_from(u8::column_result(value)?).map(TierColumn).map_err(FromSqlError::other)
    }
}
