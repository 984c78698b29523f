//! Listens to what an agent prints, line by line, and keeps what its row asks for: output may be long, and only its ends
//! are kept elsewhere.

use super::is_refusal;
use super::pick::Pick;
use super::row::Hear;
use crate::process::Next;
use serde_json::Value;

/// Texts of a kind that are kept, and bytes of each.
const TEXTS: usize = 50;
const TEXT: usize = 4096;

/// The most that is kept of an answer.
const ANSWER: usize = 4 * 1024 * 1024;

/// What was heard so far.
#[derive(Clone, Debug, Default)]
pub struct Ear {
    rules: Hear,
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
    /// By its own rules.
    pub denied: Vec<String>,
    /// By the system.
    pub failed: Vec<String>,
    pub failed_writes: Vec<String>,
    /// What it said on its standard error since it last came forward.
    pub muttered: Vec<String>,
    /// Tools under way.
    tools: usize,
}

impl Ear {
    pub fn new(rules: &Hear) -> Ear {
        Ear { rules: rules.clone(), ..Ear::default() }
    }

    /// Takes one line of the standard output in and says what may follow.
    pub fn line(&mut self, line: &[u8]) -> Next {
        if let Ok(value @ Value::Object(_)) = serde_json::from_slice(line) {
            self.value(&value);
        }
        self.next()
    }

    /// Takes one line of the standard error in.
    pub fn aside(&mut self, line: &[u8]) -> Next {
        remember(&mut self.muttered, String::from_utf8_lossy(line).trim().chars().take(TEXT).collect());
        self.next()
    }

    fn next(&self) -> Next {
        match self.tools {
            _ if self.ended => Next::End,
            0 => Next::Output,
            _ => Next::Silence,
        }
    }

    fn value(&mut self, line: &Value) {
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
            slots.take(picks, line);
        }
        let count = |picks: &[Pick]| picks.iter().map(|pick| pick.values(line).len()).sum::<usize>();
        let fits = |picks: &[Pick]| count(picks) > 0;
        let comes_forward =
            [&rules.answer, &rules.tool_began, &rules.tool_ended].into_iter().any(|picks| fits(picks));
        if comes_forward {
            // It got over what it complained of.
            self.errors.clear();
            self.muttered.clear();
        }
        for (texts, picks) in [(&mut self.errors, &rules.errors), (&mut self.denied, &rules.denied)] {
            keep(texts, picks, line, |_| true);
        }
        for (texts, picks) in
            [(&mut self.failed, &rules.failed), (&mut self.failed_writes, &rules.failed_writes)]
        {
            keep(texts, picks, line, is_refusal);
        }
        // Some go on after what looked like the end, such as to make room in their context.
        self.ended = fits(&rules.end) || self.ended && !comes_forward;
        self.tools = (self.tools + count(&rules.tool_began)).saturating_sub(count(&rules.tool_ended));
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

    /// With what it thought.
    pub fn output(&self) -> Option<u64> {
        let said = self.output.count()?.saturating_add(self.thoughts.count().unwrap_or(0));
        let rest = self.total.count().map(|total| total.saturating_sub(self.input().unwrap_or(0)));
        Some(said.max(rest.unwrap_or(0)))
    }

    pub fn cached(&self) -> Option<u64> {
        self.cached.count()
    }

    pub fn stored(&self) -> Option<u64> {
        self.stored.count()
    }

    /// In micro-units of the currency.
    pub fn cost(&self) -> Option<u64> {
        let micros = (self.cost.number()? * 1e6).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (micros.is_finite() && micros >= 0.0).then_some(micros as u64)
    }
}

fn keep(texts: &mut Vec<String>, picks: &[Pick], line: &Value, counts: impl Fn(&str) -> bool) {
    for value in picks.iter().flat_map(|pick| pick.values(line)) {
        let text: String = as_text(value).chars().take(TEXT).collect();
        if counts(&text) {
            remember(texts, text);
        }
    }
}

/// Keeps a text once, and of too many the newest.
fn remember(texts: &mut Vec<String>, text: String) {
    if text.is_empty() || texts.contains(&text) {
        return;
    }
    if texts.len() == TEXTS {
        texts.remove(0);
    }
    texts.push(text);
}

/// What each of several picks found; the first that found anything counts.
#[derive(Clone, Debug, Default)]
struct Slots(Vec<Slot>);

#[derive(Clone, Debug, Default)]
struct Slot {
    found: bool,
    text: String,
    number: Option<f64>,
}

impl Slots {
    fn take(&mut self, picks: &[Pick], line: &Value) {
        self.0.resize_with(picks.len(), Slot::default);
        for (slot, pick) in self.0.iter_mut().zip(picks) {
            for value in pick.values(line).into_iter().filter(|value| !value.is_null()) {
                slot.take(pick.all, value);
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
    fn take(&mut self, all: bool, value: &Value) {
        self.found = true;
        if !all {
            self.text.clear();
            self.number = None;
        }
        let text = as_text(value);
        if self.text.len() + text.len() <= ANSWER {
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

    fn ear(rules: &str, lines: &[Value]) -> Ear {
        let mut ear = Ear::new(&toml::from_str(rules).expect("rules"));
        for line in lines {
            ear.line(line.to_string().as_bytes());
        }
        ear
    }

    #[test]
    fn what_a_row_asks_for_is_kept() {
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
        let heard = ear(rules, &lines);
        assert_eq!((heard.session().as_deref(), heard.answer().as_deref()), (Some("s"), Some("one two")));
        assert_eq!((heard.input(), heard.output(), heard.cached()), (Some(15), Some(4), None));
        assert_eq!((heard.cost(), heard.ended), (Some(750_000), true));
        assert_eq!(heard.denied, ["W", "B"]);
        assert!(!ear(rules, &lines[..5]).ended);
        assert_eq!(ear(rules, &[]).cost(), None);
    }

    // CORE-15
    #[test]
    fn who_goes_on_after_an_end_has_not_ended() {
        let rules = "end = [{in = {type = 'end'}}]\nanswer = [{in = {type = 'text'}, at = 'text'}]";
        let mut heard = Ear::new(&toml::from_str(rules).expect("rules"));
        let mut next = |line: &str| heard.line(line.as_bytes());
        assert_eq!(next("{\"type\":\"end\"}"), Next::End);
        assert_eq!(next("{\"type\":\"note\"}"), Next::End);
        assert_eq!(next("{\"type\":\"text\",\"text\":\"more\"}"), Next::Output);
        assert_eq!(next("{\"type\":\"end\"}"), Next::End);
    }

    // CORE-11
    #[test]
    fn what_it_thought_is_output() {
        let usage = json!({"in": 10, "out": 3, "thought": 4, "all": 19});
        let heard = |more: &str| {
            ear(
                &format!("input = [{{at = 'in'}}]\noutput = [{{at = 'out'}}]\n{more}"),
                std::slice::from_ref(&usage),
            )
        };
        assert_eq!(heard("").output(), Some(3));
        assert_eq!(heard("thoughts = [{at = 'thought'}]").output(), Some(7));
        assert_eq!(heard("total = [{at = 'all'}]").output(), Some(9));
    }

    // CORE-10
    #[test]
    fn what_it_got_over_is_no_error_any_more() {
        let rules =
            "errors = [{in = {type = 'error'}, at = 'text'}]\nanswer = [{in = {type = 'text'}, at = 'text'}]";
        let mut heard = Ear::new(&toml::from_str(rules).expect("rules"));
        heard.aside(b"overloaded, trying again\n");
        heard.line(b"{\"type\":\"error\",\"text\":\"529\"}");
        assert_eq!((heard.errors.len(), heard.muttered.len()), (1, 1));
        heard.line(b"{\"type\":\"text\",\"text\":\"here\"}");
        assert_eq!((heard.errors.len(), heard.muttered.len()), (0, 0));
        (0..60).for_each(|n| _ = heard.aside(format!("line {n}").as_bytes()));
        assert_eq!(heard.muttered.last().map(String::as_str), Some("line 59"));
    }

    // CORE-15
    #[test]
    fn while_a_tool_runs_silence_is_expected() {
        let rules = "tool_began = [{in = {type = 'began'}}]\ntool_ended = [{in = {type = 'ended'}}]";
        let rules = rules.replace('_', "-");
        let mut heard = Ear::new(&toml::from_str(&rules).expect("rules"));
        assert_eq!(heard.line(b"{\"type\":\"began\"}"), Next::Silence);
        assert_eq!(heard.line(b"noise"), Next::Silence);
        assert_eq!(heard.line(b"{\"type\":\"ended\"}"), Next::Output);
    }

    // CORE-15
    #[test]
    fn tools_of_one_line_are_counted_each() {
        let rules = "tool-began = [{at = 'uses.*.id'}]\ntool-ended = [{at = 'used.*.id'}]";
        let mut heard = Ear::new(&toml::from_str(rules).expect("rules"));
        let mut next = |line: Value| heard.line(line.to_string().as_bytes());
        assert_eq!(next(json!({"uses": [{"id": "a"}, {"text": "and"}, {"id": "b"}]})), Next::Silence);
        assert_eq!(next(json!({"used": [{"id": "b"}]})), Next::Silence);
        assert_eq!(next(json!({"used": [{"id": "a"}]})), Next::Output);
    }
}
