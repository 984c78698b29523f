//! The value of a key: read from TOML according to the key's shape, and written back.

use super::keys::ValueShape;
use super::problem::suggest;
use remand_checks::CommandLine;
use remand_kernel::evidence::Tier;
use remand_notation::amount;
use std::ops::Range;
use std::path::{Component, Path};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeArray, DeValue};

/// A value in the shape of its key.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigValue {
    Text(String),
    Flag(bool),
    Count(u64),
    /// Micro-units.
    Money(u64),
    Time(Duration),
    Tier(Tier),
    Words(Vec<String>),
    Command(CommandLine),
    Free(toml::Value),
}

/// Why a value does not have the shape of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueProblem {
    pub span: Range<usize>,
    pub message: String,
    pub remedy: String,
}

/// Reads a value in the shape of its key.
pub fn decode(shape: ValueShape, value: &Spanned<DeValue<'_>>) -> Result<ConfigValue, ValueProblem> {
    let refuse = |message: String| ValueProblem { span: value.span(), message, remedy: shape.remedy() };
    let wrong_kind = || format!("expected {}, found {}", shape.noun(), kind(value.get_ref()));
    match (shape, value.get_ref()) {
        (ValueShape::Free, any) => Ok(ConfigValue::Free(to_toml_value(any).map_err(refuse)?)),
        (ValueShape::Text, DeValue::String(text)) => Ok(ConfigValue::Text(text.to_string())),
        (ValueShape::Folder, DeValue::String(text)) => folder(text).map_err(refuse),
        (ValueShape::RepositoryPath, DeValue::String(text)) => repository_path(text).map_err(refuse),
        (ValueShape::Choice(known), DeValue::Integer(number))
            if known.contains(&number.to_string().as_str()) =>
        {
            Ok(ConfigValue::Text(number.to_string()))
        }
        (ValueShape::Choice(known), DeValue::String(text)) => {
            if known.contains(&text.as_ref()) {
                return Ok(ConfigValue::Text(text.to_string()));
            }
            let message = format!("unknown value `{text}`");
            Err(ValueProblem { span: value.span(), message, remedy: suggest(text, known) })
        }
        (ValueShape::Flag, DeValue::Boolean(flag)) => Ok(ConfigValue::Flag(*flag)),
        (ValueShape::Count, DeValue::String(text)) => count(amount::count(text)).map_err(refuse),
        (ValueShape::Count, DeValue::Integer(_)) => count(integer(value.get_ref())).map_err(refuse),
        (ValueShape::Money, DeValue::String(text)) => {
            amount::money(text).map(ConfigValue::Money).map_err(refuse)
        }
        (ValueShape::Money, DeValue::Integer(number)) => {
            amount::money(&number.to_string()).map(ConfigValue::Money).map_err(refuse)
        }
        (ValueShape::Money, DeValue::Float(number)) => {
            amount::money(number.as_str()).map(ConfigValue::Money).map_err(refuse)
        }
        (ValueShape::Time, DeValue::String(text)) => {
            amount::duration(text).map(ConfigValue::Time).map_err(refuse)
        }
        (ValueShape::Tier, DeValue::Integer(_)) => tier(integer(value.get_ref())).map_err(refuse),
        (ValueShape::WordsOrFalse, DeValue::Boolean(false)) => Ok(ConfigValue::Words(Vec::new())),
        (ValueShape::Words | ValueShape::WordsOrFalse, DeValue::Array(items)) => {
            Ok(ConfigValue::Words(words(items, shape)?))
        }
        (ValueShape::Patterns, DeValue::Array(items)) => patterns(items, shape),
        (ValueShape::Command, DeValue::String(text)) if !text.trim().is_empty() => {
            Ok(ConfigValue::Command(CommandLine::Shell(text.to_string())))
        }
        (ValueShape::Command | ValueShape::Argv, DeValue::Array(items)) if !items.is_empty() => {
            let argv = words(items, shape)?;
            if argv[0].is_empty() {
                return Err(refuse("the first word is empty".to_string()));
            }
            let is_argv = shape == ValueShape::Argv;
            Ok(if is_argv { ConfigValue::Words(argv) } else { ConfigValue::Command(CommandLine::Argv(argv)) })
        }
        (ValueShape::Command, DeValue::String(_))
        | (ValueShape::Command | ValueShape::Argv, DeValue::Array(_)) => {
            Err(refuse("the command is empty".to_string()))
        }
        _ => Err(refuse(wrong_kind())),
    }
}

/// Reads a value from the environment or the command line, where strings have no quotes.
pub fn decode_text(shape: ValueShape, text: &str) -> Result<ConfigValue, ValueProblem> {
    let span = 0..text.len();
    let quoted = || Spanned::new(span.clone(), DeValue::String(text.into()));
    match shape {
        ValueShape::Text
        | ValueShape::Folder
        | ValueShape::RepositoryPath
        | ValueShape::Choice(_)
        | ValueShape::Count
        | ValueShape::Money
        | ValueShape::Time => decode(shape, &quoted()),
        ValueShape::Command if !text.starts_with('[') => decode(shape, &quoted()),
        ValueShape::Flag
        | ValueShape::Tier
        | ValueShape::Words
        | ValueShape::WordsOrFalse
        | ValueShape::Patterns
        | ValueShape::Command
        | ValueShape::Argv
        | ValueShape::Free => {
            let value = DeValue::parse(text).map_err(|_| ValueProblem {
                span: span.clone(),
                message: format!("expected {}, found `{text}`", shape.noun()),
                remedy: shape.remedy(),
            })?;
            decode(shape, &value)
        }
    }
}

impl ConfigValue {
    /// The value as TOML.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
        let list = |words: &[String]| {
            format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
        };
        match self {
            ConfigValue::Text(text) => quoted(text),
            ConfigValue::Flag(flag) => flag.to_string(),
            ConfigValue::Count(count) => count.to_string(),
            ConfigValue::Money(micros) => amount::money_text(*micros),
            ConfigValue::Time(time) => quoted(&amount::duration_text(*time)),
            ConfigValue::Tier(tier) => u8::from(*tier).to_string(),
            ConfigValue::Words(words) => list(words),
            ConfigValue::Command(CommandLine::Shell(text)) => quoted(text),
            ConfigValue::Command(CommandLine::Argv(words)) => list(words),
            ConfigValue::Free(value) => value.to_string(),
        }
    }
}

impl ValueShape {
    /// The name of the shape in messages.
    pub fn noun(self) -> &'static str {
        match self {
            ValueShape::Text => "a string",
            ValueShape::Folder | ValueShape::RepositoryPath => "a path",
            ValueShape::Choice(_) => "a choice",
            ValueShape::Flag => "true or false",
            ValueShape::Count => "a count",
            ValueShape::Money => "an amount of money",
            ValueShape::Time => "a duration",
            ValueShape::Tier => "a tier",
            ValueShape::Words => "a list of strings",
            ValueShape::WordsOrFalse => "a list of strings, or false",
            ValueShape::Patterns => "a list of regular expressions",
            ValueShape::Command => "a command",
            ValueShape::Argv => "a list of words",
            ValueShape::Free => "a TOML value",
        }
    }

    /// How to write a value of this shape.
    pub fn remedy(self) -> String {
        match self {
            ValueShape::Text => "write a string in quotes".to_string(),
            ValueShape::Folder => "write an absolute path, or one that begins with `~/`".to_string(),
            ValueShape::RepositoryPath => "write a path relative to the root of the repository".to_string(),
            ValueShape::Choice(known) => format!("use one of: {}", known.join(", ")),
            ValueShape::Flag => "write true or false".to_string(),
            ValueShape::Count => "write a whole number from 1, such as 40, \"200k\" or \"2M\"".to_string(),
            ValueShape::Money => "write a decimal number such as 12.50".to_string(),
            ValueShape::Time => {
                "write numbers with ms, s, m, h or d, such as \"90s\" or \"1h30m\"".to_string()
            }
            ValueShape::Tier => "write 1, 2 or 3".to_string(),
            ValueShape::Words | ValueShape::Argv => "write a list such as [\"one\", \"two\"]".to_string(),
            ValueShape::WordsOrFalse => "write a list such as [\"one\", \"two\"], or false".to_string(),
            ValueShape::Patterns => "write a list such as ['key-[0-9]+']".to_string(),
            ValueShape::Command => "write a string for the shell, or a list of words".to_string(),
            ValueShape::Free => "write a TOML value".to_string(),
        }
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn integer(value: &DeValue<'_>) -> Result<u64, String> {
    let DeValue::Integer(number) = value else {
        return Err("expected a whole number".to_string());
    };
    u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| format!("`{number}` is out of range"))
}

fn count(number: Result<u64, String>) -> Result<ConfigValue, String> {
    match number? {
        0 => Err("0 would allow nothing".to_string()),
        number => Ok(ConfigValue::Count(number)),
    }
}

fn tier(number: Result<u64, String>) -> Result<ConfigValue, String> {
    let number = number?;
    match u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok()) {
        Some(tier) if tier < Tier::Four => Ok(ConfigValue::Tier(tier)),
        Some(_) | None => Err(format!("a command cannot have tier {number}")),
    }
}

fn folder(text: &str) -> Result<ConfigValue, String> {
    if text.starts_with('/') || text.starts_with("~/") {
        Ok(ConfigValue::Text(text.to_string()))
    } else {
        Err(format!("`{text}` is a relative path"))
    }
}

fn repository_path(text: &str) -> Result<ConfigValue, String> {
    let stays_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(text).components().all(stays_inside) {
        Ok(ConfigValue::Text(text.to_string()))
    } else {
        Err(format!("`{text}` is outside the repository"))
    }
}

fn words(items: &DeArray<'_>, shape: ValueShape) -> Result<Vec<String>, ValueProblem> {
    items
        .iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(ValueProblem {
                span: item.span(),
                message: format!("expected a string, found {}", kind(other)),
                remedy: shape.remedy(),
            }),
        })
        .collect()
}

fn patterns(items: &DeArray<'_>, shape: ValueShape) -> Result<ConfigValue, ValueProblem> {
    let words = words(items, shape)?;
    for (item, word) in items.iter().zip(&words) {
        let message = match regex::Regex::new(word) {
            Ok(regex) if regex.is_match("") => "the pattern matches the empty string".to_string(),
            Ok(_) => continue,
            Err(error) => error.to_string().lines().last().unwrap_or_default().to_string(),
        };
        let remedy = "correct the regular expression".to_string();
        return Err(ValueProblem { span: item.span(), message, remedy });
    }
    Ok(ConfigValue::Words(words))
}

fn to_toml_value(value: &DeValue<'_>) -> Result<toml::Value, String> {
    Ok(match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => toml::Value::Integer(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| format!("`{number}` is out of range"))?,
        ),
        DeValue::Float(number) => {
            toml::Value::Float(number.as_str().parse().map_err(|_| format!("`{number}` is not a number"))?)
        }
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(items) => toml::Value::Array(
            items.iter().map(|item| to_toml_value(item.get_ref())).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => toml::Value::Table(
            table
                .iter()
                .map(|(key, value)| Ok((key.get_ref().to_string(), to_toml_value(value.get_ref())?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}
