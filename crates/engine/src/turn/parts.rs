//! Artifacts that several dispatches write one part each of: the digest of the whole, whichever part comes last.

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
    /// The parts as the ledger has them.
    pub fn of(rows: &[ArtifactRow]) -> ArtifactParts {
        let parts = rows.iter().filter(|row| is_part(&row.part, &row.format));
        ArtifactParts {
            latest: parts.map(|row| ((row.name.clone(), row.part.clone()), row.digest)).collect(),
        }
    }

    /// Whether any of these artifacts is a part of a larger one.
    pub(super) fn are_among(artifacts: &[Artifact]) -> bool {
        artifacts.iter().any(|artifact| is_part(&artifact.part, &artifact.format))
    }

    /// Takes in new parts, and lets the report state the digests of the wholes.
    pub(super) fn put_together(&mut self, artifacts: &[Artifact], report: &mut Report) {
        let parts = artifacts.iter().filter(|artifact| is_part(&artifact.part, &artifact.format));
        for Artifact { name, part, digest, .. } in parts {
            self.latest.insert((name.clone(), part.clone()), *digest);
            let whole = self.whole(name);
            for (_, digest) in report.wrote.iter_mut().filter(|(written, _)| written == name) {
                *digest = whole;
            }
        }
    }

    fn whole(&self, name: &str) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let of_artifact = self.latest.range((name.to_string(), String::new())..);
        for ((_, part), digest) in of_artifact.take_while(|((of, _), _)| of == name) {
            hasher.update(part.as_bytes()).update(&[0]).update(&digest.0.to_le_bytes());
        }
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Digest(u64::from_le_bytes(head).max(1))
    }
}

/// Changes of tasks are not parts of a document: the kernel itself puts them together.
fn is_part(part: &str, format: &str) -> bool {
    !part.is_empty() && format != "patch"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(parts: &mut ArtifactParts, part: &str, digest: u64) -> Digest {
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
        parts.put_together(&[artifact], &mut report);
        report.wrote[0].1
    }

    #[test]
    fn the_whole_is_the_same_whichever_part_comes_last() {
        let (mut one, mut other) = (ArtifactParts::default(), ArtifactParts::default());
        whole(&mut one, "impact", 1);
        whole(&mut other, "patterns", 2);
        assert_eq!(whole(&mut one, "patterns", 2), whole(&mut other, "impact", 1));
    }

    #[test]
    fn a_changed_part_changes_the_whole_and_the_same_part_does_not() {
        let mut parts = ArtifactParts::default();
        whole(&mut parts, "impact", 1);
        let first = whole(&mut parts, "patterns", 2);
        assert_eq!(whole(&mut parts, "patterns", 2), first);
        assert_ne!(whole(&mut parts, "impact", 3), first);
    }
}
