//! Whether a program has namespaces of its own.

/// Whether the program is in the namespaces of its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    Private,
    Shared,
}
