//! Artifacts with parts from several dispatches. The digest of the whole artifact does not depend on which part came
//! last.

use remand_kernel::Report;
use remand_kernel::change::Digest;
use remand_ledger::fact::Artifact;
use remand_ledger::query::ArtifactRow;
use std::collections::BTreeMap;

/// The digest of the latest version of each part, by artifact and part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArtifactParts {
    latest: BTreeMap<(String, String), Digest>,
}

impl ArtifactParts {
    /// The parts in the ledger.
    pub fn of(rows: &[ArtifactRow]) -> ArtifactParts {
        let parts = rows.iter().filter(|row| is_part(&row.part, &row.format));
        ArtifactParts {
            latest: parts.map(|row| ((row.name.clone(), row.part.clone()), row.digest)).collect(),
        }
    }

    /// Whether any of these artifacts is a part of a larger one.
    pub(super) fn exist_in(artifacts: &[Artifact]) -> bool {
        artifacts.iter().any(|artifact| is_part(&artifact.part, &artifact.format))
    }

    /// Records new parts, and sets the digests of their whole artifacts in the report.
    pub(super) fn add(&mut self, artifacts: &[Artifact], report: &mut Report) {
        let parts = artifacts.iter().filter(|artifact| is_part(&artifact.part, &artifact.format));
        for Artifact { name, part, digest, .. } in parts {
            self.latest.insert((name.clone(), part.clone()), *digest);
            let whole = self.whole_digest(name);
            for (_, digest) in report.wrote.iter_mut().filter(|(written, _)| written == name) {
                *digest = whole;
            }
        }
    }

    fn whole_digest(&self, name: &str) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let from_name = self.latest.range((name.to_string(), String::new())..);
        for ((_, part), digest) in from_name.take_while(|((artifact, _), _)| artifact == name) {
            hasher.update(part.as_bytes()).update(&[0]).update(&digest.0.to_le_bytes());
        }
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Digest(u64::from_le_bytes(head).max(1))
    }
}

/// Patches of tasks are not parts of a document: the kernel combines them.
fn is_part(part: &str, format: &str) -> bool {
    !part.is_empty() && format != "patch"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_after(parts: &mut ArtifactParts, part: &str, digest: u64) -> Digest {
        let mut report = Report::saying("done");
        report.wrote.push(("research".to_string(), Digest(digest)));
        let artifact = Artifact {
            name: "research".to_string(),
            part: part.to_string(),
            digest: Digest(digest),
            blob: remand_ledger::BlobId::of(b""),
            by: "researcher".to_string(),
            format: "yaml".to_string(),
        };
        parts.add(&[artifact], &mut report);
        report.wrote[0].1
    }

    #[test]
    fn the_digest_does_not_depend_on_the_order_of_the_parts() {
        let (mut one, mut other) = (ArtifactParts::default(), ArtifactParts::default());
        digest_after(&mut one, "impact", 1);
        digest_after(&mut other, "patterns", 2);
        assert_eq!(digest_after(&mut one, "patterns", 2), digest_after(&mut other, "impact", 1));
    }

    #[test]
    fn a_changed_part_changes_the_digest_and_an_unchanged_part_does_not() {
        let mut parts = ArtifactParts::default();
        digest_after(&mut parts, "impact", 1);
        let first = digest_after(&mut parts, "patterns", 2);
        assert_eq!(digest_after(&mut parts, "patterns", 2), first);
        assert_ne!(digest_after(&mut parts, "impact", 3), first);
    }
}
