//! Languages, by file name.

use std::path::Path;

/// A supported language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    C,
    Cpp,
    Java,
    Yaml,
    Json,
    Toml,
}

impl Language {
    pub const ALL: [Language; 12] = [
        Language::Rust,
        Language::Python,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::Go,
        Language::C,
        Language::Cpp,
        Language::Java,
        Language::Yaml,
        Language::Json,
        Language::Toml,
    ];

    /// The language of a file, by its name. Headers count as C++, whose grammar also reads C.
    pub fn of(path: &Path) -> Option<Language> {
        if path.file_name().is_some_and(|name| name == "Cargo.lock" || name == "poetry.lock") {
            return Some(Language::Toml);
        }
        let extension = path.extension()?.to_str()?;
        Some(match extension {
            "rs" => Language::Rust,
            "py" | "pyi" => Language::Python,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "ts" | "mts" | "cts" => Language::TypeScript,
            "tsx" => Language::Tsx,
            "go" => Language::Go,
            "c" => Language::C,
            "h" | "hpp" | "hh" | "hxx" | "cpp" | "cc" | "cxx" => Language::Cpp,
            "java" => Language::Java,
            "yaml" | "yml" => Language::Yaml,
            "json" => Language::Json,
            "toml" => Language::Toml,
            _ => return None,
        })
    }

    /// Whether it is a programming language. Data formats have parsers with better error messages than a syntax tree.
    pub fn is_code(self) -> bool {
        match self {
            Language::Yaml | Language::Json | Language::Toml => false,
            Language::Rust
            | Language::Python
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Go
            | Language::C
            | Language::Cpp
            | Language::Java => true,
        }
    }

    /// The display name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::TypeScript => "TypeScript",
            Language::Tsx => "TSX",
            Language::Go => "Go",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Java => "Java",
            Language::Yaml => "YAML",
            Language::Json => "JSON",
            Language::Toml => "TOML",
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
            Language::Yaml => tree_sitter_yaml::LANGUAGE.into(),
            Language::Json => tree_sitter_json::LANGUAGE.into(),
            Language::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
        }
    }
}
