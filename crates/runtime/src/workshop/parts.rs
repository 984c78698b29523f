//! Artifacts that several dispatches write a part of each: what the whole is, whichever part came last.

use crate::host::Ending;
use remand_kernel::Outcome;
use remand_kernel::change::Digest;
use remand_ledger::fact::Artifact;
use remand_ledger::query::ArtifactRow;
use std::collections::BTreeMap;

/// The latest content of each part, by artifact and part.
#[derive(Debug, Default)]
pub struct Parts {
    latest: BTreeMap<(String, String), Digest>,
}

impl Parts {
    /// As the ledger has them.
    pub fn of(rows: &[ArtifactRow]) -> Parts {
        let parts = rows.iter().filter(|row| is_part(&row.part, &row.format));
        Parts { latest: parts.map(|row| ((row.name.clone(), row.part.clone()), row.digest)).collect() }
    }

    /// Lets a report say what an artifact is now with the part that the ending brings.
    pub fn put_together(&mut self, ending: &mut Ending) {
        let Outcome::Said(report) = &mut ending.outcome else {
            return;
        };
        let parts =
            ending.facts.artifacts.iter().filter(|artifact| is_part(&artifact.part, &artifact.format));
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
        for ((_, part), digest) in self.latest.iter().filter(|((of, _), _)| of == name) {
            hasher.update(part.as_bytes()).update(&[0]).update(&digest.0.to_le_bytes());
        }
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Digest(u64::from_le_bytes(head).max(1))
    }
}

/// The changes of tasks are no parts of a document: the kernel itself puts them together.
fn is_part(part: &str, format: &str) -> bool {
    !part.is_empty() && format != "patch"
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_kernel::Report;

    fn ending(part: &str, digest: u64) -> Ending {
        let mut report = Report::saying("done");
        report.wrote.push(("research".to_string(), Digest(digest)));
        let mut ending = Ending::plain(Outcome::Said(Box::new(report)));
        ending.facts.artifacts.push(Artifact {
            name: "research".to_string(),
            part: part.to_string(),
            digest: Digest(digest),
            blob: remand_ledger::BlobId::of(b""),
            by: "researcher".to_string(),
            format: "yaml".to_string(),
        });
        ending
    }

    fn whole(parts: &mut Parts, part: &str, digest: u64) -> Digest {
        let mut ending = ending(part, digest);
        parts.put_together(&mut ending);
        match ending.outcome {
            Outcome::Said(report) => report.wrote[0].1,
            Outcome::Failed { .. } | Outcome::Supposed(_) => Digest(0),
        }
    }

    #[test]
    fn the_whole_is_the_same_whichever_part_comes_last() {
        let (mut one, mut other) = (Parts::default(), Parts::default());
        whole(&mut one, "impact", 1);
        whole(&mut other, "patterns", 2);
        assert_eq!(whole(&mut one, "patterns", 2), whole(&mut other, "impact", 1));
    }

    #[test]
    fn a_changed_part_changes_the_whole_and_the_same_part_does_not() {
        let mut parts = Parts::default();
        whole(&mut parts, "impact", 1);
        let first = whole(&mut parts, "patterns", 2);
        assert_eq!(whole(&mut parts, "patterns", 2), first);
        assert_ne!(whole(&mut parts, "impact", 3), first);
    }
}
