//! Finds new names and links that mislead a reader: hidden and look-alike characters, names that differ only in case, links
//! that lead out of the tree.

use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization;
use unicode_security::RestrictionLevel::MinimallyRestrictive;
use unicode_security::RestrictionLevelDetection;
use unicode_security::confusable_detection::skeleton;

/// The maximum number of links that are followed to find where a link leads, as the kernel does.
const MAX_LINKS: usize = 40;

/// The maximum number of findings of one change.
const MAX_FINDINGS: usize = 20;

/// The paths of a change, and the tree with the change.
#[derive(Clone, Copy, Debug)]
pub struct ChangedNames<'c> {
    /// Files and links that the change adds, and links that it changes.
    pub changed: &'c [PathBuf],
    /// All files and links before the change.
    pub before: &'c [PathBuf],
    /// All files and links after the change.
    pub after: &'c [PathBuf],
    /// The target of each link after the change.
    pub links: &'c BTreeMap<PathBuf, PathBuf>,
}

/// Returns the misleading names and links that a change adds, each as a finding that refuses the change.
pub fn misleading_names(names: &ChangedNames<'_>) -> Vec<Finding> {
    let known: BTreeSet<&Path> = names.before.iter().flat_map(|path| path.ancestors()).collect();
    let new: BTreeSet<&Path> = names
        .changed
        .iter()
        .flat_map(|path| path.ancestors())
        .filter(|path| !path.as_os_str().is_empty() && !known.contains(path))
        .collect();
    let mut by_folded_name: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    if !new.is_empty() {
        for path in names.after.iter().flat_map(|path| path.ancestors()) {
            by_folded_name.entry(folded(path)).or_default().insert(path);
        }
    }
    let mut found = Vec::new();
    for path in new {
        if let Some(why) = path.file_name().and_then(|name| why_misleading(name.as_bytes())) {
            found.push(finding(path, &format!("the name {} {why}", quoted(path)), "choose a plain name"));
        }
        let others = by_folded_name.get(&folded(path)).into_iter().flatten();
        if let Some(other) = others.copied().find(|other| *other != path) {
            let claim = format!(
                "{} and {} differ only in case or in the form of a letter, so many systems cannot hold both",
                quoted(path),
                quoted(other)
            );
            found.push(finding(path, &claim, "choose another name, or rename the other file"));
        }
    }
    for path in names.changed {
        let Some(target) = names.links.get(path) else { continue };
        if let Some(why) = why_outside(path, names.links) {
            let claim = format!("the link {} to {} {why}", quoted(path), quoted(target));
            found.push(finding(
                path,
                &claim,
                "make it a relative link to a file of the repository, or a copy",
            ));
        }
    }
    found.truncate(MAX_FINDINGS);
    found
}

fn finding(path: &Path, claim: &str, recommendation: &str) -> Finding {
    let shown = shown(path);
    Finding {
        id: format!("names:{shown}"),
        severity: Severity::Critical,
        category: Category::Security,
        kind: Some(FindingKind::Production),
        injected_by: Vec::new(),
        task: None,
        place: Location { file: shown, ..Location::default() },
        claim: claim.to_string(),
        evidence: "the engine compared the names before and after the change".to_string(),
        impact: "a reader takes one file for another, or a checkout writes where nobody expects it"
            .to_string(),
        recommendation: recommendation.to_string(),
        patch: None,
        repeats: None,
    }
}

fn quoted(path: &Path) -> String {
    format!("`{}`", shown(path))
}

/// The path with everything escaped that could mislead.
fn shown(path: &Path) -> String {
    let escape = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.extend(chunk.valid().chars().map(escape));
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Why a reader would mistake a name for another one; `None` if it is plain.
fn why_misleading(name: &[u8]) -> Option<String> {
    let Ok(name) = std::str::from_utf8(name) else {
        return Some("is not UTF-8".to_string());
    };
    let characters: Vec<char> = name.chars().collect();
    let is_joiner_in_word = |at: usize| {
        let is_word = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| !c.is_ascii());
        matches!(characters[at], '\u{200c}' | '\u{200d}')
            && is_word(at.checked_sub(1))
            && is_word(Some(at + 1))
    };
    let hidden = (0..characters.len()).find(|at| is_hidden(characters[*at]) && !is_joiner_in_word(*at));
    if let Some(at) = hidden {
        return Some(format!(
            "contains a character that is not visible (U+{:04X})",
            u32::from(characters[at])
        ));
    }
    if name.starts_with(char::is_whitespace) || name.ends_with(char::is_whitespace) {
        return Some("begins or ends with a space".to_string());
    }
    let word = name.split(|c: char| !c.is_alphabetic()).find(|word| looks_like_another(word))?;
    Some(format!("has letters that look like others: `{word}` reads as `{}`", in_latin(word)))
}

/// The word with letters of other scripts as the ones they look like. A skeleton changes plain letters too: m to rn.
fn in_latin(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            text.extend(skeleton(c.encode_utf8(&mut [0; 4])));
        }
    }
    text
}

/// Whether a word mixes scripts in a way that no language does, or looks like ASCII without being ASCII.
fn looks_like_another(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    let composed: String = word.nfc().collect();
    composed.detect_restriction_level() >= MinimallyRestrictive
        || skeleton(&composed).all(|c| c.is_ascii_alphanumeric())
}

/// Whether a character is invisible, or changes the order of others.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ' && c != '\u{3000}')
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The path in the form that systems compare if they ignore case and the form of letters.
fn folded(path: &Path) -> String {
    path.to_string_lossy().nfd().flat_map(char::to_lowercase).nfd().collect()
}

/// Why a link leads out of the tree; `None` if it stays inside.
fn why_outside(link: &Path, links: &BTreeMap<PathBuf, PathBuf>) -> Option<&'static str> {
    let mut followed = 0;
    let mut at = PathBuf::new();
    let mut rest: Vec<PathBuf> = vec![link.to_path_buf()];
    while let Some(path) = rest.pop() {
        let mut components = path.components();
        let Some(first) = components.next() else { continue };
        let after = components.as_path().to_path_buf();
        rest.push(after);
        match first {
            Component::Prefix(_) | Component::RootDir => {
                return Some("is absolute: it leads elsewhere on another machine");
            }
            Component::CurDir => {}
            Component::ParentDir => {
                if !at.pop() {
                    return Some("leads out of the repository");
                }
            }
            Component::Normal(name) => {
                if name.eq_ignore_ascii_case(".git") {
                    return Some("leads into git's own files");
                }
                at.push(name);
                if let Some(target) = links.get(&at) {
                    followed += 1;
                    if followed > MAX_LINKS {
                        return Some("leads in a circle");
                    }
                    at.pop();
                    rest.push(target.clone());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    /// The claims about a change that adds these names to a tree with these others.
    fn claims(before: &[&str], added: &[&str]) -> Vec<String> {
        let (before, changed) = (paths(before), paths(added));
        let after: Vec<PathBuf> = before.iter().chain(&changed).cloned().collect();
        let names =
            ChangedNames { changed: &changed, before: &before, after: &after, links: &BTreeMap::new() };
        misleading_names(&names).into_iter().map(|finding| finding.claim).collect()
    }

    fn link_claims(links: &[(&str, &str)]) -> Vec<String> {
        let links: BTreeMap<PathBuf, PathBuf> =
            links.iter().map(|(link, target)| (link.into(), target.into())).collect();
        let changed: Vec<PathBuf> = links.keys().cloned().collect();
        let names = ChangedNames { changed: &changed, before: &[], after: &changed, links: &links };
        misleading_names(&names).into_iter().map(|finding| finding.claim).collect()
    }

    // BX-07
    #[test]
    fn names_that_a_reader_takes_for_others_are_found() {
        for (name, part) in [
            ("src/user\u{202e}sj.exe", "not visible (U+202E)"),
            ("a\nb.rs", "not visible (U+000A)"),
            ("\u{1b}[2Jx", "not visible (U+001B)"),
            ("in\u{200b}visible.py", "not visible (U+200B)"),
            ("no\u{a0}break.md", "not visible (U+00A0)"),
            ("tags\u{e0041}", "not visible (U+E0041)"),
            ("lib.rs ", "begins or ends with a space"),
            ("p\u{430}yment.py", "`pаyment` reads as `payment`"),
            ("\u{441}\u{43e}\u{440}\u{435}.py", "reads as `cope`"),
            ("\u{ff41}\u{ff42}.rs", "reads as `ab`"),
            ("\u{3bf}ut.txt", "reads as `out`"),
        ] {
            let claims = claims(&["src/main.rs"], &[name]);
            assert!(claims.len() == 1 && claims[0].contains(part), "{name:?}: {claims:?}");
        }
        use std::os::unix::ffi::OsStringExt;
        let latin = PathBuf::from(std::ffi::OsString::from_vec(b"caf\xe9".to_vec()));
        let names = ChangedNames { changed: &[latin], before: &[], after: &[], links: &BTreeMap::new() };
        assert_eq!(misleading_names(&names)[0].claim, "the name `caf\\xe9` is not UTF-8");
    }

    // BX-07
    #[test]
    fn plain_names_in_any_language_are_fine() {
        let plain = [
            "docs/日本語の説明.md",
            "docs/カタカナ と ひらがな.txt",
            "übergröße/äöüß.rs",
            "u\u{308}ber.md",
            "тест/привет_мир.md",
            "ελληνικά.txt",
            "한국어.md",
            "עברית.md",
            "می\u{200c}شود.md",
            "naïve café.md",
            "emoji-👩\u{200d}👩\u{200d}👧-☃\u{fe0f}.png",
            "API設計.md",
            "a b/c-d_e.f+g@2x.png",
            "[id]/(group)/page.tsx",
            "l1Il.rs",
        ];
        assert_eq!(claims(&[], &plain), [""; 0]);
        // What the repository has already is not the change's fault.
        assert_eq!(claims(&["p\u{430}y/a.rs"], &["p\u{430}y/b.rs"]), [""; 0]);
    }

    // BX-07
    #[test]
    fn names_that_some_systems_cannot_hold_together_are_found() {
        let end = " differ only in case or in the form of a letter, so many systems cannot hold both";
        assert_eq!(claims(&["README.md"], &["Readme.md"]), [format!("`Readme.md` and `README.md`{end}")]);
        assert_eq!(claims(&["src/a.rs"], &["Src/b.rs"]), [format!("`Src` and `src`{end}")]);
        assert_eq!(claims(&["caf\u{e9}"], &["cafe\u{301}"]).len(), 1);
        assert_eq!(claims(&["src/a.rs"], &["lib/A.rs"]), [""; 0]);
    }

    // BX-07
    #[test]
    fn links_out_of_the_tree_are_found_also_by_way_of_other_links() {
        assert_eq!(
            link_claims(&[("a", "/etc/passwd")]),
            ["the link `a` to `/etc/passwd` is absolute: it leads elsewhere on another machine"]
        );
        assert_eq!(
            link_claims(&[("a/b", "../../c")]),
            ["the link `a/b` to `../../c` leads out of the repository"]
        );
        assert_eq!(link_claims(&[("b", "deep/x/../../.."), ("deep/x", "../y")]).len(), 1);
        assert_eq!(
            link_claims(&[("git", ".git/hooks")]),
            ["the link `git` to `.git/hooks` leads into git's own files"]
        );
        assert_eq!(link_claims(&[("a", "b"), ("b", "a")]).len(), 2);
        assert_eq!(link_claims(&[("a/b", "../c"), ("current", "releases/./2"), ("d", "missing")]), [""; 0]);
    }
}
