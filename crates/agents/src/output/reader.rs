//! Reads an agent's output as it arrives and keeps the values that its row selects. They cannot be read later, since the
//! middle of a long output is not stored.

use super::is_denial;
use super::pick::Pick;
use super::rules::OutputRules;
use remand_process::AfterLine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The maximum number of strings of each kind that are kept, and the maximum length of each.
const MAX_TEXTS: usize = 50;
const MAX_TEXT_CHARS: usize = 4096;

/// The maximum length of the answer.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The maximum length of a tool's name or target.
const MAX_TARGET: usize = 200;

/// The maximum number of model calls whose tokens are counted.
const MAX_CALLS: usize = 10_000;

/// What an agent has reported so far.
#[derive(Clone, Debug, Default)]
pub struct OutputReader {
    rules: OutputRules,
    session: Slots,
    model: Slots,
    answer: Slots,
    input: Slots,
    output: Slots,
    thoughts: Slots,
    total: Slots,
    cached: Slots,
    stored: Slots,
    cost: Slots,
    pub ended: bool,
    pub errors: Vec<String>,
    /// Permissions that the agent's rules denied.
    pub denied: Vec<String>,
    /// Tool output that reports a denial by the system.
    pub failed: Vec<String>,
    /// The same for tools that change files.
    pub failed_writes: Vec<String>,
    /// Lines of the standard error since the agent last made progress.
    pub logged: Vec<String>,
    /// Number of running tools.
    tools: usize,
    /// The last tool that started, and what it works on.
    doing: Option<ToolAtWork>,
    /// The tokens of each model call, by its id.
    calls: BTreeMap<String, u64>,
}

/// A tool that an agent uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAtWork {
    pub tool: String,
    /// The file or the command.
    pub target: Option<String>,
}

/// What an agent is doing now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentActivity {
    /// `None` while the model thinks.
    pub tool: Option<ToolAtWork>,
    /// Tokens so far, once the agent has reported any.
    pub tokens: Option<u64>,
}

impl fmt::Display for AgentActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(ToolAtWork { tool, target: Some(target) }) => write!(f, "{tool} {target}")?,
            Some(ToolAtWork { tool, target: None }) => f.write_str(tool)?,
            None => f.write_str("thinking")?,
        }
        match self.tokens {
            Some(tokens) => write!(f, ", {tokens} tokens so far"),
            None => Ok(()),
        }
    }
}

impl OutputReader {
    pub fn new(rules: &OutputRules) -> OutputReader {
        OutputReader { rules: rules.clone(), ..OutputReader::default() }
    }

    /// Reads one line of the standard output and returns what to expect next.
    pub fn line(&mut self, line: &[u8]) -> AfterLine {
        if let Ok(value @ Value::Object(_)) = serde_json::from_slice(line) {
            self.read_value(&value);
        }
        self.after_line()
    }

    /// Reads one line of the standard error and returns what to expect next.
    pub fn stderr_line(&mut self, line: &[u8]) -> AfterLine {
        remember(
            &mut self.logged,
            String::from_utf8_lossy(line).trim().chars().take(MAX_TEXT_CHARS).collect(),
        );
        self.after_line()
    }

    fn after_line(&self) -> AfterLine {
        match self.tools {
            _ if self.ended => AfterLine::End,
            0 => AfterLine::Output,
            _ => AfterLine::Silence,
        }
    }

    fn read_value(&mut self, line: &Value) {
        let rules = &self.rules;
        for (slots, picks) in [
            (&mut self.session, &rules.session),
            (&mut self.model, &rules.model),
            (&mut self.answer, &rules.answer),
            (&mut self.input, &rules.input),
            (&mut self.output, &rules.output),
            (&mut self.thoughts, &rules.thoughts),
            (&mut self.total, &rules.total),
            (&mut self.cached, &rules.cached),
            (&mut self.stored, &rules.stored),
            (&mut self.cost, &rules.cost),
        ] {
            slots.collect(picks, line);
        }
        let count = |picks: &[Pick]| picks.iter().map(|pick| pick.values(line).len()).sum::<usize>();
        let has_match = |picks: &[Pick]| count(picks) > 0;
        let makes_progress =
            [&rules.answer, &rules.tool_began, &rules.tool_ended].into_iter().any(|picks| has_match(picks));
        if makes_progress {
            // The agent has recovered from earlier errors.
            self.errors.clear();
            self.logged.clear();
        }
        for (texts, picks) in [(&mut self.errors, &rules.errors), (&mut self.denied, &rules.denied)] {
            keep(texts, picks, line, |_| true);
        }
        for (texts, picks) in
            [(&mut self.failed, &rules.failed), (&mut self.failed_writes, &rules.failed_writes)]
        {
            keep(texts, picks, line, is_denial);
        }
        // Some agents continue after they reported an end, for example after compacting their context.
        self.ended = has_match(&rules.end) || self.ended && !makes_progress;
        self.tools = (self.tools + count(&rules.tool_began)).saturating_sub(count(&rules.tool_ended));
        let last_text = |picks: &[Pick]| -> Option<String> {
            let mut texts = picks.iter().flat_map(|pick| pick.values(line)).map(as_text);
            texts.rfind(|text| !text.is_empty()).map(|text| text.chars().take(MAX_TARGET).collect())
        };
        if let Some(call) = last_text(&rules.call).filter(|_| self.calls.len() < MAX_CALLS) {
            let counts = rules.call_tokens.iter().flat_map(|pick| pick.values(line));
            self.calls.insert(call, counts.filter_map(Value::as_u64).fold(0, u64::saturating_add));
        }
        match last_text(&rules.tool) {
            Some(tool) => self.doing = Some(ToolAtWork { tool, target: last_text(&rules.target) }),
            None if self.tools == 0 && makes_progress => self.doing = None,
            None => {}
        }
    }

    /// What the agent is doing now. Until it reports its totals, the tokens of its model calls are added up.
    pub fn activity(&self) -> AgentActivity {
        let counts = [
            self.input(),
            self.output(),
            self.cached().filter(|_| !self.rules.input_has_cached),
            self.stored(),
        ];
        let total = counts.iter().any(Option::is_some).then(|| counts.iter().flatten().sum());
        let of_calls = self.calls.values().copied().fold(0, u64::saturating_add);
        let tokens = total.or((of_calls > 0).then_some(of_calls));
        AgentActivity { tool: self.doing.clone(), tokens }
    }

    pub fn session(&self) -> Option<String> {
        self.session.text()
    }

    pub fn model(&self) -> Option<String> {
        self.model.text()
    }

    pub fn answer(&self) -> Option<String> {
        self.answer.text()
    }

    pub fn input(&self) -> Option<u64> {
        self.input.count()
    }

    /// Output tokens, including thinking tokens.
    pub fn output(&self) -> Option<u64> {
        let counted = self.output.count()?.saturating_add(self.thoughts.count().unwrap_or(0));
        let rest = self.total.count().map(|total| total.saturating_sub(self.input().unwrap_or(0)));
        Some(counted.max(rest.unwrap_or(0)))
    }

    pub fn cached(&self) -> Option<u64> {
        self.cached.count()
    }

    pub fn stored(&self) -> Option<u64> {
        self.stored.count()
    }

    /// The cost in micro-units of the currency.
    pub fn cost(&self) -> Option<u64> {
        let micros = (self.cost.number()? * 1e6).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (micros.is_finite() && micros >= 0.0).then_some(micros as u64)
    }
}

fn keep(texts: &mut Vec<String>, picks: &[Pick], line: &Value, is_relevant: impl Fn(&str) -> bool) {
    for value in picks.iter().flat_map(|pick| pick.values(line)) {
        let text: String = as_text(value).chars().take(MAX_TEXT_CHARS).collect();
        if is_relevant(&text) {
            remember(texts, text);
        }
    }
}

/// Adds a string unless the list has it, and drops the oldest one if the list is full.
fn remember(texts: &mut Vec<String>, text: String) {
    if text.is_empty() || texts.contains(&text) {
        return;
    }
    if texts.len() == MAX_TEXTS {
        texts.remove(0);
    }
    texts.push(text);
}

/// What each of several picks has found. The value of the first pick that found anything counts.
#[derive(Clone, Debug, Default)]
struct Slots(Vec<Slot>);

#[derive(Clone, Debug, Default)]
struct Slot {
    found: bool,
    text: String,
    number: Option<f64>,
}

impl Slots {
    fn collect(&mut self, picks: &[Pick], line: &Value) {
        self.0.resize_with(picks.len(), Slot::default);
        for (slot, pick) in self.0.iter_mut().zip(picks) {
            for value in pick.values(line).into_iter().filter(|value| !value.is_null()) {
                slot.collect(pick.all, value);
            }
        }
    }

    fn found(&self) -> Option<&Slot> {
        self.0.iter().find(|slot| slot.found)
    }

    fn text(&self) -> Option<String> {
        self.found().map(|slot| slot.text.clone())
    }

    fn number(&self) -> Option<f64> {
        self.found().and_then(|slot| slot.number)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn count(&self) -> Option<u64> {
        self.number().filter(|number| *number >= 0.0).map(|number| number as u64)
    }
}

impl Slot {
    fn collect(&mut self, all: bool, value: &Value) {
        self.found = true;
        if !all {
            self.text.clear();
            self.number = None;
        }
        let text = as_text(value);
        if self.text.len() + text.len() <= MAX_ANSWER_BYTES {
            self.text.push_str(&text);
        }
        if let Some(number) = value.as_f64() {
            self.number = Some(self.number.unwrap_or(0.0) + number);
        }
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(rules: &str, lines: &[Value]) -> OutputReader {
        let mut reader = OutputReader::new(&toml::from_str(rules).expect("rules"));
        for line in lines {
            reader.line(line.to_string().as_bytes());
        }
        reader
    }

    #[test]
    fn the_activity_is_the_tool_at_work_and_its_target_and_the_tokens_so_far() {
        let row = include_str!("../../../../agents/claude.toml");
        let row: toml::Table = toml::from_str(row).expect("a row");
        let rules = toml::to_string(row.get("hear").expect("rules")).expect("text");
        let usage =
            |output: u64| json!({"input_tokens": 3, "cache_read_input_tokens": 20, "output_tokens": output});
        let call = |id: &str, output: u64, content: Value| json!({"type": "assistant", "message": {"id": id, "usage": usage(output), "content": [content]}});
        let edit =
            json!({"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "src/a.rs"}});
        let began = json!({"type": "assistant", "message": {"content": [edit]}});
        let ended = json!({"type": "user", "message": {"content": [{"tool_use_id": "t1"}]}});
        let result = json!({"type": "result", "usage": {"input_tokens": 40, "output_tokens": 2}});
        let doing = |lines: &[Value]| read(&rules, lines).activity().to_string();
        assert_eq!(doing(&[]), "thinking");
        assert_eq!(doing(std::slice::from_ref(&began)), "Edit src/a.rs");
        assert_eq!(doing(&[began.clone(), ended.clone()]), "thinking");
        assert_eq!(doing(&[began, ended, result.clone()]), "thinking, 42 tokens so far");
        // UP-11: a call that is reported twice counts once, and the totals in the result replace the sum of the calls.
        let mut calls = vec![call("m1", 1, json!({"type": "text", "text": "Now."})), call("m1", 2, edit)];
        assert_eq!(doing(&calls), "Edit src/a.rs, 25 tokens so far");
        calls.push(call("m2", 4, json!({"type": "text", "text": "Done."})));
        assert!(doing(&calls).ends_with(", 52 tokens so far"));
        calls.push(result);
        assert!(doing(&calls).ends_with(", 42 tokens so far"));
    }

    #[test]
    fn the_selected_values_are_kept() {
        let rules = "
            session = [{at = 'sid'}]
            answer = [{in = {type = 'result'}, at = 'result'}, {in = {type = 'text'}, at = 'part.text', all = true}]
            input = [{in = {type = 'step'}, at = 'tokens.input', all = true}]
            output = [{in = {type = 'turn'}, at = 'tokens.output'}]
            cost = [{at = 'cost', all = true}]
            end = [{in = {type = 'step', reason = 'stop'}}]
            denied = [{at = 'denied.*.tool'}]
        ";
        let lines = [
            json!({"type": "text", "part": {"text": "one "}, "sid": "s"}),
            json!({"type": "step", "tokens": {"input": 10}, "cost": 0.5}),
            json!({"type": "turn", "tokens": {"output": 3}}),
            json!({"type": "text", "part": {"text": "two"}}),
            json!({"type": "turn", "tokens": {"output": 4}, "denied": [{"tool": "W"}, {"tool": "B"}]}),
            json!({"type": "step", "reason": "stop", "tokens": {"input": 5}, "cost": 0.25}),
        ];
        let reader = read(rules, &lines);
        assert_eq!((reader.session().as_deref(), reader.answer().as_deref()), (Some("s"), Some("one two")));
        assert_eq!((reader.input(), reader.output(), reader.cached()), (Some(15), Some(4), None));
        assert_eq!((reader.cost(), reader.ended), (Some(750_000), true));
        assert_eq!(reader.denied, ["W", "B"]);
        assert!(!read(rules, &lines[..5]).ended);
        assert_eq!(read(rules, &[]).cost(), None);
    }

    // CORE-15
    #[test]
    fn an_agent_that_continues_after_its_end_has_not_ended() {
        let rules = "end = [{in = {type = 'end'}}]\nanswer = [{in = {type = 'text'}, at = 'text'}]";
        let mut reader = OutputReader::new(&toml::from_str(rules).expect("rules"));
        let mut next = |line: &str| reader.line(line.as_bytes());
        assert_eq!(next("{\"type\":\"end\"}"), AfterLine::End);
        assert_eq!(next("{\"type\":\"note\"}"), AfterLine::End);
        assert_eq!(next("{\"type\":\"text\",\"text\":\"more\"}"), AfterLine::Output);
        assert_eq!(next("{\"type\":\"end\"}"), AfterLine::End);
    }

    // CORE-11
    #[test]
    fn thinking_tokens_count_as_output() {
        let usage = json!({"in": 10, "out": 3, "thought": 4, "all": 19});
        let reader = |more: &str| {
            read(
                &format!("input = [{{at = 'in'}}]\noutput = [{{at = 'out'}}]\n{more}"),
                std::slice::from_ref(&usage),
            )
        };
        assert_eq!(reader("").output(), Some(3));
        assert_eq!(reader("thoughts = [{at = 'thought'}]").output(), Some(7));
        assert_eq!(reader("total = [{at = 'all'}]").output(), Some(9));
    }

    // CORE-10
    #[test]
    fn errors_are_forgotten_once_the_agent_makes_progress() {
        let rules =
            "errors = [{in = {type = 'error'}, at = 'text'}]\nanswer = [{in = {type = 'text'}, at = 'text'}]";
        let mut reader = OutputReader::new(&toml::from_str(rules).expect("rules"));
        reader.stderr_line(b"overloaded, trying again\n");
        reader.line(b"{\"type\":\"error\",\"text\":\"529\"}");
        assert_eq!((reader.errors.len(), reader.logged.len()), (1, 1));
        reader.line(b"{\"type\":\"text\",\"text\":\"here\"}");
        assert_eq!((reader.errors.len(), reader.logged.len()), (0, 0));
        (0..60).for_each(|n| _ = reader.stderr_line(format!("line {n}").as_bytes()));
        assert_eq!(reader.logged.last().map(String::as_str), Some("line 59"));
    }

    // CORE-15
    #[test]
    fn silence_is_expected_while_a_tool_runs() {
        let rules = "tool_began = [{in = {type = 'began'}}]\ntool_ended = [{in = {type = 'ended'}}]";
        let rules = rules.replace('_', "-");
        let mut reader = OutputReader::new(&toml::from_str(&rules).expect("rules"));
        assert_eq!(reader.line(b"{\"type\":\"began\"}"), AfterLine::Silence);
        assert_eq!(reader.line(b"noise"), AfterLine::Silence);
        assert_eq!(reader.line(b"{\"type\":\"ended\"}"), AfterLine::Output);
    }

    // CORE-15
    #[test]
    fn every_tool_of_a_line_is_counted() {
        let rules = "tool-began = [{at = 'uses.*.id'}]\ntool-ended = [{at = 'used.*.id'}]";
        let mut reader = OutputReader::new(&toml::from_str(rules).expect("rules"));
        let mut next = |line: Value| reader.line(line.to_string().as_bytes());
        assert_eq!(next(json!({"uses": [{"id": "a"}, {"text": "and"}, {"id": "b"}]})), AfterLine::Silence);
        assert_eq!(next(json!({"used": [{"id": "b"}]})), AfterLine::Silence);
        assert_eq!(next(json!({"used": [{"id": "a"}]})), AfterLine::Output);
    }
}
