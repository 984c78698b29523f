//! Parses YAML into a plain tree with positions: mappings in order, strings, lists, and nothing else.
//!
//! All scalars are strings: `no`, `on` and `3` stay as written. Anchors, aliases and tags are rejected, so a small file
//! cannot become a large tree.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{MAX_FILE_BYTES, SourceText, Span};
use granit_parser::{Event, Parser, ScalarStyle};

/// The maximum nesting depth. No real workflow comes near it.
const MAX_DEPTH: usize = 32;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlNode {
    pub span: Span,
    pub value: YamlValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlValue {
    /// No value was written.
    Empty,
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<(YamlKey, YamlNode)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlKey {
    pub name: String,
    pub span: Span,
}

impl YamlValue {
    /// The kind of value, for messages.
    pub fn shape(&self) -> &'static str {
        match self {
            YamlValue::Empty => "nothing",
            YamlValue::Text(_) => "a string",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a mapping",
        }
    }
}

/// A file that could not be decoded.
#[derive(Clone, Debug)]
pub struct Undecodable {
    /// The text up to the problem.
    pub source: SourceText,
    pub problem: Diagnostic,
}

/// Decodes bytes as text.
pub fn decode(name: &str, bytes: &[u8]) -> Result<SourceText, Box<Undecodable>> {
    if bytes.len() > MAX_FILE_BYTES {
        let source = SourceText::new(name, "");
        let message = "the file is larger than 512 KiB";
        let remedy = "a workflow is a few hundred lines; check that this is the file you mean";
        let problem = Diagnostic::error(Code::TooLarge, Span::default(), message, remedy);
        return Err(Box::new(Undecodable { source, problem }));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(SourceText::new(name, text.strip_prefix('\u{feff}').unwrap_or(text))),
        Err(error) => {
            let valid = error.valid_up_to();
            let source = SourceText::new(name, String::from_utf8_lossy(&bytes[..valid]).into_owned());
            let message = format!("byte {} is not UTF-8", valid + 1);
            let remedy = "save the file as UTF-8";
            let problem = Diagnostic::error(Code::Encoding, Span::new(valid, valid), message, remedy);
            Err(Box::new(Undecodable { source, problem }))
        }
    }
}

/// Parses a source into a tree. Reports every problem up to the first one that stops the parser.
pub fn parse(source: &SourceText, problems: &mut Vec<Diagnostic>) -> Option<YamlNode> {
    if source.text.len() > MAX_FILE_BYTES {
        let message = format!("the file is {} KiB large", source.text.len().div_ceil(1024));
        let remedy = "a workflow is a few hundred lines; check that this is the file you mean";
        problems.push(Diagnostic::error(Code::TooLarge, Span::default(), message, remedy));
        return None;
    }
    let mut builder = Builder { source, problems, open: Vec::new(), root: None, documents: 0 };
    // With this option, an alias without an anchor is reported as an alias.
    let options = granit_parser::options! { emit_unresolved_aliases: true };
    for next in Parser::new_from_str_with_options(&source.text, options) {
        match next {
            Ok((event, span)) => {
                let span =
                    span.byte_range().map_or(Span::default(), |range| Span::new(range.start, range.end));
                if !builder.add(event, span) {
                    return None;
                }
            }
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or(0).min(source.text.len());
                builder.syntax_error(offset, &error.info());
                return None;
            }
        }
    }
    let root = builder.root;
    if root.is_none() {
        let remedy = "begin with `name:`; `remand workflows quick` prints a small workflow";
        problems.push(Diagnostic::error(Code::MissingKey, Span::default(), "the file is empty", remedy));
    }
    root
}

/// A collection that is not closed yet.
enum Open {
    List(Span, Vec<YamlNode>),
    /// The entries so far, and the key whose value comes next. An inner `None` means that the value is dropped.
    Map(Span, Vec<(YamlKey, YamlNode)>, Option<Option<YamlKey>>),
}

struct Builder<'a> {
    source: &'a SourceText,
    problems: &'a mut Vec<Diagnostic>,
    open: Vec<Open>,
    root: Option<YamlNode>,
    documents: usize,
}

impl Builder<'_> {
    /// Adds one event; `false` stops the parser.
    fn add(&mut self, event: Event<'_>, span: Span) -> bool {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Comment(..) => {}
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let remedy = "move the second document to a separate file";
                    self.report(Code::Documents, span, "a second document starts here", remedy);
                    return false;
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                self.report(Code::Reference, span, "an alias is used here", "write the value out");
                return false;
            }
            Event::Scalar(text, style, anchor, tag) => {
                if !self.is_plain(anchor, tag.is_some(), span) {
                    return false;
                }
                let is_empty = (text.is_empty() || text == "~") && style == ScalarStyle::Plain;
                let value = if is_empty { YamlValue::Empty } else { YamlValue::Text(text.into_owned()) };
                self.add_node(YamlNode { span, value });
            }
            Event::SequenceStart(_, anchor, tag) => {
                if !self.is_plain(anchor, tag.is_some(), span) || !self.can_nest(span) {
                    return false;
                }
                self.open.push(Open::List(span, Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                if !self.is_plain(anchor, tag.is_some(), span) || !self.can_nest(span) {
                    return false;
                }
                self.open.push(Open::Map(span, Vec::new(), None));
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(start, items)) => {
                    let span = Span::new(start.start, span.end);
                    self.add_node(YamlNode { span, value: YamlValue::List(items) });
                }
                Some(Open::Map(start, entries, _)) => {
                    let span = Span::new(start.start, span.end);
                    self.add_node(YamlNode { span, value: YamlValue::Map(entries) });
                }
                None => return false,
            },
            // The parser's enum is non-exhaustive; an unknown event cannot be part of the tree.
            _ => return false,
        }
        true
    }

    fn is_plain(&mut self, anchor: usize, tagged: bool, span: Span) -> bool {
        if anchor != 0 {
            self.report(
                Code::Reference,
                span,
                "an anchor is set here",
                "write the value out where it is used",
            );
            return false;
        }
        if tagged {
            self.report(Code::Reference, span, "a tag is used here", "write the plain value");
            return false;
        }
        true
    }

    fn can_nest(&mut self, span: Span) -> bool {
        if self.open.len() < MAX_DEPTH {
            return true;
        }
        self.report(Code::Shape, span, "this is nested too deeply", "a workflow needs at most five levels");
        false
    }

    fn add_node(&mut self, node: YamlNode) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, entries, pending)) => match pending.take() {
                Some(Some(key)) => entries.push((key, node)),
                Some(None) => {}
                None => {
                    let YamlValue::Text(name) = node.value else {
                        let message = format!("a key is a string, not {}", node.value.shape());
                        let problem = Diagnostic::error(
                            Code::Shape,
                            node.span,
                            message,
                            "write a plain name before the colon",
                        );
                        self.problems.push(problem);
                        // The value of this key is dropped too.
                        *pending = Some(None);
                        return;
                    };
                    if let Some((first, _)) = entries.iter().find(|(key, _)| key.name == name) {
                        let line = self.source.position(first.span.start).0;
                        let message = format!("`{name}` occurs a second time; it is already in line {line}");
                        let problem = Diagnostic::error(
                            Code::DuplicateKey,
                            node.span,
                            message,
                            "remove one of the two",
                        );
                        self.problems.push(problem);
                        *pending = Some(None);
                        return;
                    }
                    *pending = Some(Some(YamlKey { name, span: node.span }));
                }
            },
        }
    }

    fn syntax_error(&mut self, offset: usize, info: &str) {
        let line_start =
            self.source.text[..self.source.floor(offset)].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.source.text[line_start..].lines().next().unwrap_or("");
        let indent = &line[..line.len() - line.trim_start().len()];
        let remedy = if indent.contains('\t') {
            "indent with spaces; YAML does not allow tabs there"
        } else {
            "check the indentation, the colon and the quotes here and in the previous line"
        };
        let message = if info.is_empty() {
            "this is not valid YAML".to_string()
        } else {
            format!("this is not valid YAML: {info}")
        };
        self.report(Code::Yaml, Span::new(offset, offset), &message, remedy);
    }

    fn report(&mut self, code: Code, span: Span, message: &str, remedy: &str) {
        self.problems.push(Diagnostic::error(code, span, message, remedy));
    }
}
