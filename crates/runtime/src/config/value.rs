//! One value of a key: read from TOML in the key's shape, and written back.

use super::amount;
use super::keys::Shape;
use super::problem::suggest;
use remand_kernel::evidence::Tier;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Component, Path};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeArray, DeValue};

/// A command as it was configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandLine {
    Shell(String),
    Argv(Vec<String>),
}

/// A value in the shape of its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
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

/// Why a value does not fit its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub span: Range<usize>,
    pub message: String,
    pub remedy: String,
}

/// Reads a value in the shape of its key.
pub fn decode(shape: Shape, value: &Spanned<DeValue<'_>>) -> Result<Value, Misfit> {
    let refuse = |message: String| Misfit { span: value.span(), message, remedy: shape.remedy() };
    let kind = || format!("{} is no {}", kind(value.get_ref()), shape.noun());
    match (shape, value.get_ref()) {
        (Shape::Free, any) => Ok(Value::Free(plain(any).map_err(refuse)?)),
        (Shape::Text, DeValue::String(text)) => Ok(Value::Text(text.to_string())),
        (Shape::Folder, DeValue::String(text)) => folder(text).map_err(refuse),
        (Shape::Inside, DeValue::String(text)) => inside(text).map_err(refuse),
        (Shape::Choice(known), DeValue::Integer(whole)) if known.contains(&whole.to_string().as_str()) => {
            Ok(Value::Text(whole.to_string()))
        }
        (Shape::Choice(known), DeValue::String(text)) => {
            if known.contains(&text.as_ref()) {
                return Ok(Value::Text(text.to_string()));
            }
            let message = format!("`{text}` is not known here");
            Err(Misfit { span: value.span(), message, remedy: suggest(text, known) })
        }
        (Shape::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (Shape::Count, DeValue::String(text)) => count(amount::count(text)).map_err(refuse),
        (Shape::Count, DeValue::Integer(_)) => count(integer(value.get_ref())).map_err(refuse),
        (Shape::Money, DeValue::String(text)) => amount::money(text).map(Value::Money).map_err(refuse),
        (Shape::Money, DeValue::Integer(whole)) => {
            amount::money(&whole.to_string()).map(Value::Money).map_err(refuse)
        }
        (Shape::Money, DeValue::Float(number)) => {
            amount::money(number.as_str()).map(Value::Money).map_err(refuse)
        }
        (Shape::Time, DeValue::String(text)) => amount::duration(text).map(Value::Time).map_err(refuse),
        (Shape::Tier, DeValue::Integer(_)) => tier(integer(value.get_ref())).map_err(refuse),
        (Shape::Words, DeValue::Array(items)) => Ok(Value::Words(words(items, shape)?)),
        (Shape::Patterns, DeValue::Array(items)) => patterns(items, shape),
        (Shape::Command, DeValue::String(text)) if !text.trim().is_empty() => {
            Ok(Value::Command(CommandLine::Shell(text.to_string())))
        }
        (Shape::Command | Shape::Argv, DeValue::Array(items)) if !items.is_empty() => {
            let argv = words(items, shape)?;
            if argv[0].is_empty() {
                return Err(refuse("the first word is empty".to_string()));
            }
            let is_argv = shape == Shape::Argv;
            Ok(if is_argv { Value::Words(argv) } else { Value::Command(CommandLine::Argv(argv)) })
        }
        (Shape::Command, DeValue::String(_)) | (Shape::Command | Shape::Argv, DeValue::Array(_)) => {
            Err(refuse("the command is empty".to_string()))
        }
        _ => Err(refuse(kind())),
    }
}

/// Reads a value from the environment or the command line, where texts stand without quotes.
pub fn decode_text(shape: Shape, text: &str) -> Result<Value, Misfit> {
    let whole = 0..text.len();
    let quoted = || Spanned::new(whole.clone(), DeValue::String(text.into()));
    match shape {
        Shape::Text
        | Shape::Folder
        | Shape::Inside
        | Shape::Choice(_)
        | Shape::Count
        | Shape::Money
        | Shape::Time => decode(shape, &quoted()),
        Shape::Command if !text.starts_with('[') => decode(shape, &quoted()),
        Shape::Flag
        | Shape::Tier
        | Shape::Words
        | Shape::Patterns
        | Shape::Command
        | Shape::Argv
        | Shape::Free => {
            let value = DeValue::parse(text).map_err(|_| Misfit {
                span: whole.clone(),
                message: format!("`{text}` is no {}", shape.noun()),
                remedy: shape.remedy(),
            })?;
            decode(shape, &value)
        }
    }
}

impl Value {
    /// The value as TOML.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
        let list = |words: &[String]| {
            format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
        };
        match self {
            Value::Text(text) => quoted(text),
            Value::Flag(flag) => flag.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Money(micros) => amount::money_text(*micros),
            Value::Time(time) => quoted(&amount::duration_text(*time)),
            Value::Tier(tier) => u8::from(*tier).to_string(),
            Value::Words(words) => list(words),
            Value::Command(CommandLine::Shell(text)) => quoted(text),
            Value::Command(CommandLine::Argv(words)) => list(words),
            Value::Free(value) => value.to_string(),
        }
    }
}

impl Shape {
    /// What it is, as messages call it.
    pub fn noun(self) -> &'static str {
        match self {
            Shape::Text => "text",
            Shape::Folder | Shape::Inside => "path",
            Shape::Choice(_) => "choice",
            Shape::Flag => "yes or no",
            Shape::Count => "count",
            Shape::Money => "amount of money",
            Shape::Time => "duration",
            Shape::Tier => "tier",
            Shape::Words => "list of texts",
            Shape::Patterns => "list of regular expressions",
            Shape::Command => "command",
            Shape::Argv => "list of words",
            Shape::Free => "value",
        }
    }

    /// How to write it.
    pub fn remedy(self) -> String {
        match self {
            Shape::Text => "write a text in quotes".to_string(),
            Shape::Folder => "write an absolute path, or one that begins with `~/`".to_string(),
            Shape::Inside => "write a path relative to the root of the repository".to_string(),
            Shape::Choice(known) => format!("use one of: {}", known.join(", ")),
            Shape::Flag => "write true or false".to_string(),
            Shape::Count => "write a whole number from 1, such as 40, \"200k\" or \"2M\"".to_string(),
            Shape::Money => "write a decimal number such as 12.50".to_string(),
            Shape::Time => "write numbers with ms, s, m, h or d, such as \"90s\" or \"1h30m\"".to_string(),
            Shape::Tier => "write 1, 2 or 3".to_string(),
            Shape::Words | Shape::Argv => "write a list such as [\"one\", \"two\"]".to_string(),
            Shape::Patterns => "write a list such as ['key-[0-9]+']".to_string(),
            Shape::Command => "write a text for the shell, or a list of words".to_string(),
            Shape::Free => "write a TOML value".to_string(),
        }
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
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
        return Err("this is no whole number".to_string());
    };
    u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| format!("`{number}` is out of range"))
}

fn count(number: Result<u64, String>) -> Result<Value, String> {
    match number? {
        0 => Err("0 allows nothing at all".to_string()),
        number => Ok(Value::Count(number)),
    }
}

fn tier(number: Result<u64, String>) -> Result<Value, String> {
    let number = number?;
    match u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok()) {
        Some(tier) if tier < Tier::Four => Ok(Value::Tier(tier)),
        Some(_) | None => Err(format!("{number} is no tier of a command")),
    }
}

fn folder(text: &str) -> Result<Value, String> {
    if text.starts_with('/') || text.starts_with("~/") {
        Ok(Value::Text(text.to_string()))
    } else {
        Err(format!("`{text}` is a relative path"))
    }
}

fn inside(text: &str) -> Result<Value, String> {
    let goes_down = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(text).components().all(goes_down) {
        Ok(Value::Text(text.to_string()))
    } else {
        Err(format!("`{text}` leads out of the repository"))
    }
}

fn words(items: &DeArray<'_>, shape: Shape) -> Result<Vec<String>, Misfit> {
    items
        .iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(Misfit {
                span: item.span(),
                message: format!("{} is no text", kind(other)),
                remedy: shape.remedy(),
            }),
        })
        .collect()
}

fn patterns(items: &DeArray<'_>, shape: Shape) -> Result<Value, Misfit> {
    let words = words(items, shape)?;
    for (item, word) in items.iter().zip(&words) {
        let wrong = match regex::Regex::new(word) {
            Ok(regex) if regex.is_match("") => "the pattern matches the empty text".to_string(),
            Ok(_) => continue,
            Err(error) => error.to_string().lines().last().unwrap_or_default().to_string(),
        };
        let remedy = "correct the regular expression".to_string();
        return Err(Misfit { span: item.span(), message: wrong, remedy });
    }
    Ok(Value::Words(words))
}

fn plain(value: &DeValue<'_>) -> Result<toml::Value, String> {
    Ok(match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => toml::Value::Integer(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| format!("`{number}` is out of range"))?,
        ),
        DeValue::Float(number) => {
            toml::Value::Float(number.as_str().parse().map_err(|_| format!("`{number}` is no number"))?)
        }
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|item| plain(item.get_ref())).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => toml::Value::Table(
            table
                .iter()
                .map(|(key, value)| Ok((key.get_ref().to_string(), plain(value.get_ref())?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}
