//! Parses the short phrases of the language: routes, budgets, conditions, tallies, options, guarantees.

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::file::{
    ActionDecl, AtomDecl, AtomsDecl, BudgetDecl, ClaimDecl, ComparisonDecl, ConditionDecl, DefaultDecl,
    GuaranteeDecl, LengthDecl, OptionDecl, RouteDecl, TallyDecl, TallyTestDecl,
};
use crate::source::{Span, Spanned};
use remand_kernel::program::{Effect, Order};

/// The forms of a route, as the reference lists them.
pub const ROUTE_FORMS: &[(&str, &str)] = &[
    ("next", "forward to the next phase of the flow"),
    ("to PHASE", "forward to a later phase, or to an aside"),
    ("remand PHASE spending BUDGET", "back to this or an earlier phase, with the findings"),
    ("remand injector spending BUDGET", "back to the earliest phase that a finding names as its origin"),
    ("restore PHASE spending BUDGET", "back to the start of the round, with all artifacts restored"),
    ("return", "from an aside: continue after the phase that led to it"),
    ("raise SIGNAL", "out of the sub-flow, with this signal"),
    ("done", "the run ends successfully"),
    ("fail", "the run fails; its failure operations follow"),
    ("stop [WHY]", "the run stops; it is neither done nor failed"),
    ("hold", "wait until a human continues the run, then ask again"),
    ("ignore", "ignore a detector's signal here"),
    ("as SIGNAL", "follow the route of that signal"),
];

const ROUTE_WORDS: &[&str] =
    &["next", "to", "remand", "restore", "return", "raise", "done", "fail", "stop", "hold", "ignore", "as"];

type Parsed<T> = Result<T, Diagnostic>;

/// The words and commas of a phrase, with their positions.
struct Words<'s> {
    tokens: Vec<(&'s str, Span)>,
    position: usize,
    end: Span,
}

impl<'s> Words<'s> {
    fn new(text: &'s str, span: Span) -> Words<'s> {
        let mut tokens = Vec::new();
        let mut start = None;
        for (offset, letter) in text.char_indices() {
            let is_in_word = !letter.is_whitespace() && letter != ',';
            match (start, is_in_word) {
                (None, true) => start = Some(offset),
                (Some(from), false) => {
                    tokens.push((&text[from..offset], span.part(from, offset)));
                    start = None;
                }
                (None, false) | (Some(_), true) => {}
            }
            if letter == ',' {
                tokens.push((",", span.part(offset, offset + 1)));
            }
        }
        if let Some(from) = start {
            tokens.push((&text[from..], span.part(from, text.len())));
        }
        Words { tokens, position: 0, end: Span::new(span.end, span.end) }
    }

    fn peek(&self) -> Option<&'s str> {
        self.tokens.get(self.position).map(|(word, _)| *word)
    }

    fn second(&self) -> Option<&'s str> {
        self.tokens.get(self.position + 1).map(|(word, _)| *word)
    }

    fn next(&mut self) -> Option<(&'s str, Span)> {
        let token = self.tokens.get(self.position).copied();
        self.position += usize::from(token.is_some());
        token
    }

    /// Skips the next word if it is this one.
    fn skip_if(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.position += usize::from(found);
        found
    }

    fn here(&self) -> Span {
        self.tokens.get(self.position).map_or(self.end, |(_, span)| *span)
    }

    fn name(&mut self, expected: &str) -> Parsed<Spanned<String>> {
        match self.next() {
            Some((word, span)) if word != "," => Ok(Spanned::new(word.to_string(), span)),
            Some((_, span)) => Err(missing(span, expected)),
            None => Err(missing(self.end, expected)),
        }
    }

    fn number(&mut self, expected: &str) -> Parsed<u16> {
        let span = self.here();
        let word = self.next().map_or("", |(word, _)| word);
        word.parse().map_err(|_| {
            let message = format!("a number is missing here: {expected}");
            Diagnostic::error(Code::Phrase, span, message, "write a whole number from 0 to 65535")
        })
    }

    fn names(&mut self, expected: &str) -> Parsed<Vec<Spanned<String>>> {
        let mut names = vec![self.name(expected)?];
        while self.peek() == Some(",") && !matches!(self.second(), None | Some("else" | "then" | "when")) {
            self.position += 1;
            names.push(self.name(expected)?);
        }
        Ok(names)
    }

    fn finish(&self, remedy: &str) -> Parsed<()> {
        match self.tokens.get(self.position) {
            None => Ok(()),
            Some((word, span)) => {
                let message = format!("`{word}` is not expected here");
                Err(Diagnostic::error(Code::Phrase, *span, message, remedy))
            }
        }
    }
}

fn missing(span: Span, expected: &str) -> Diagnostic {
    Diagnostic::error(Code::Phrase, span, format!("{expected} is missing here"), format!("write {expected}"))
}

/// Parses a route.
pub fn route(text: &str, span: Span) -> Parsed<RouteDecl> {
    let mut words = Words::new(text, span);
    let route = read_route(&mut words, span)?;
    words.finish("a route has the form `ACTION [spending BUDGET, …] [with EFFECT] [, else ROUTE]`")?;
    Ok(route)
}

fn read_route(words: &mut Words<'_>, whole: Span) -> Parsed<RouteDecl> {
    let start = words.here();
    let Some((verb, verb_span)) = words.next() else {
        return Err(missing(whole, "a route"));
    };
    let action = match verb {
        "next" => ActionDecl::Next,
        "to" => ActionDecl::To(words.name("the name of a phase")?),
        "remand" if words.skip_if("injector") => ActionDecl::RemandInjector,
        "remand" => ActionDecl::Remand(words.name("the name of a phase")?),
        "restore" => ActionDecl::Restore(words.name("the name of a phase")?),
        "return" => ActionDecl::Return,
        "raise" => ActionDecl::Raise(words.name("a signal")?),
        "done" => ActionDecl::Done,
        "fail" => ActionDecl::Fail,
        "stop" => ActionDecl::Stop(match words.peek() {
            None | Some("," | "with") => String::new(),
            Some(why) => {
                words.position += 1;
                why.to_string()
            }
        }),
        "hold" => ActionDecl::Hold,
        "ignore" => ActionDecl::Ignore,
        "as" => {
            let mut signal = words.name("a signal")?;
            if let Some(second) = words.peek().filter(|word| *word != ",") {
                signal = Spanned::new(format!("{} {second}", signal.value), signal.span);
                words.position += 1;
            }
            ActionDecl::As(signal)
        }
        other => {
            let remedy = match nearest(other, ROUTE_WORDS.iter().copied()) {
                Some(near) => format!("write `{near}`"),
                None => format!("start with one of: {}", ROUTE_WORDS.join(", ")),
            };
            let message = format!("a route cannot start with `{other}`");
            return Err(Diagnostic::error(Code::Phrase, verb_span, message, remedy));
        }
    };
    let spends = if words.skip_if("spending") { words.names("the name of a budget")? } else { Vec::new() };
    let effect = if words.skip_if("with") { Some(read_effect(words)?) } else { None };
    let otherwise = if words.peek() == Some(",") && words.second() == Some("else") {
        words.position += 2;
        Some(Box::new(read_route(words, whole)?))
    } else {
        None
    };
    let last = words.tokens[..words.position].last().map_or(start, |(_, span)| *span);
    Ok(RouteDecl { span: Span::new(start.start, last.end), action, spends, effect, otherwise })
}

fn read_effect(words: &mut Words<'_>) -> Parsed<Effect> {
    let span = words.here();
    let word = words.next().map_or("", |(word, _)| word);
    Effect::ALL.into_iter().find(|effect| effect.name() == word).ok_or_else(|| {
        Diagnostic::error(
            Code::Phrase,
            span,
            format!("`{word}` is not an effect"),
            "write `with dissent`, `with degradation`, `with constraints` or `with blockers`",
        )
    })
}

/// Parses a default: a route, and the phases that have their own route.
pub fn default(signal: Spanned<String>, text: &str, span: Span) -> Parsed<DefaultDecl> {
    let mut words = Words::new(text, span);
    let route = read_route(&mut words, span)?;
    let except = if words.skip_if("except") { words.names("the name of a phase")? } else { Vec::new() };
    words.finish("a default has the form `ROUTE [except PHASE, …]`")?;
    Ok(DefaultDecl { signal, route, except })
}

/// Parses a budget: `N [or LIST / N] [rounds] per SCOPE [, then ROUTE]`.
pub fn budget(name: Spanned<String>, text: &str, span: Span) -> Parsed<BudgetDecl> {
    const FORM: &str =
        "write a budget as `3 per run, then fail`, `2 per subject` or `9 per PHASE, then ROUTE`";
    let mut words = Words::new(text, span);
    let size = words.number("how often the budget can be spent")?;
    let share = if words.skip_if("or") {
        let list = words.name("the name of a list")?;
        if !words.skip_if("/") {
            return Err(Diagnostic::error(Code::Phrase, words.here(), "`/` is missing here", FORM));
        }
        Some((list, words.number("the divisor")?))
    } else {
        None
    };
    let rounds = words.skip_if("rounds");
    if !words.skip_if("per") {
        return Err(Diagnostic::error(Code::Phrase, words.here(), "`per` is missing here", FORM));
    }
    let scope = words.name("`run`, `subject` or the name of a phase")?;
    let then = if words.peek() == Some(",") && words.second() == Some("then") {
        words.position += 2;
        Some(read_route(&mut words, span)?)
    } else {
        None
    };
    words.finish(FORM)?;
    Ok(BudgetDecl { name, size, share, rounds, scope, then })
}

/// Parses a row of a tally: `any V`, `all V`, `N of M V`, `otherwise`.
pub fn tally(signal: Spanned<String>, text: &str, span: Span) -> Parsed<TallyDecl> {
    const FORM: &str = "write a row as `any VERDICT`, `all VERDICT`, `2 of 3 VERDICT` or `otherwise`";
    let mut words = Words::new(text, span);
    let test = match words.peek() {
        Some("otherwise") => {
            words.position += 1;
            TallyTestDecl::Otherwise
        }
        Some("any") => {
            words.position += 1;
            TallyTestDecl::Any(words.name("a verdict")?)
        }
        Some("all") => {
            words.position += 1;
            TallyTestDecl::All(words.name("a verdict")?)
        }
        Some(_) | None => {
            let count = words.number("how many members must return the verdict")?;
            if !words.skip_if("of") {
                return Err(Diagnostic::error(Code::Phrase, words.here(), "`of` is missing here", FORM));
            }
            let members = words.number("the number of members")?;
            TallyTestDecl::AtLeast { count, members, verdict: words.name("a verdict")? }
        }
    };
    words.finish(FORM)?;
    Ok(TallyDecl { signal, test, span })
}

/// Parses an option of a question: `NAME [if CONDITION]`.
pub fn option(text: &str, span: Span) -> Parsed<OptionDecl> {
    let mut words = Words::new(text, span);
    let name = words.name("the name of an option")?;
    let offered = if words.skip_if("if") { Some(read_condition(&mut words)?) } else { None };
    words.finish("write an option as `NAME` or `NAME if CONDITION`")?;
    Ok(OptionDecl { name, offered })
}

/// Parses a condition: comparisons joined by `and`.
pub fn condition(text: &str, span: Span) -> Parsed<ConditionDecl> {
    let mut words = Words::new(text, span);
    let condition = read_condition(&mut words)?;
    words.finish(
        "write conditions such as `tasks > 1`, `confidence >= medium`, `FLAG` or `not FLAG`, joined by `and`",
    )?;
    Ok(condition)
}

fn read_condition(words: &mut Words<'_>) -> Parsed<ConditionDecl> {
    let mut all = vec![read_comparison(words)?];
    while words.skip_if("and") {
        all.push(read_comparison(words)?);
    }
    Ok(ConditionDecl { all })
}

fn read_comparison(words: &mut Words<'_>) -> Parsed<ComparisonDecl> {
    let negated = words.skip_if("not");
    let fact = words.name("a fact")?;
    let order = match words.peek() {
        Some("<") => Some(Order::Below),
        Some("<=") => Some(Order::AtMost),
        Some("=" | "is") => Some(Order::Equal),
        Some("!=") => Some(Order::Unequal),
        Some(">=") => Some(Order::AtLeast),
        Some(">") => Some(Order::Above),
        Some(_) | None => None,
    };
    let compared = match order {
        Some(order) => {
            words.position += 1;
            Some((order, words.name("a value")?))
        }
        None => None,
    };
    Ok(ComparisonDecl { fact, compared, negated })
}

/// Parses a guarantee.
pub fn guarantee(text: &str, span: Span) -> Parsed<GuaranteeDecl> {
    const FORM: &str = "write `no A unless B since C`, `no A after B [unless C]`, `A always leads to B`, \
                        `happy path 14 + 2 per task dispatches` or `never more than 35 + 8 per task dispatches`";
    let mut words = Words::new(text, span);
    let claim = match (words.peek(), words.second()) {
        (Some("no"), _) => {
            words.position += 1;
            read_never(&mut words, FORM)?
        }
        (Some("happy"), Some("path")) => {
            words.position += 2;
            let (fixed, per_task) = read_count(&mut words, FORM)?;
            ClaimDecl::Happy { fixed, per_task }
        }
        (Some("never"), Some("more")) => {
            words.position += 2;
            if !words.skip_if("than") {
                return Err(Diagnostic::error(Code::Phrase, words.here(), "`than` is missing here", FORM));
            }
            let (fixed, per_task) = read_count(&mut words, FORM)?;
            ClaimDecl::AtMost { fixed, per_task }
        }
        (Some(_) | None, _) => {
            let from = read_atoms(&mut words)?;
            for word in ["always", "leads", "to"] {
                if !words.skip_if(word) {
                    let message = format!("`{word}` is missing here");
                    return Err(Diagnostic::error(Code::Phrase, words.here(), message, FORM));
                }
            }
            ClaimDecl::Leads { from, to: read_atoms(&mut words)? }
        }
    };
    let when = if words.skip_if(",") { Some(read_length(&mut words, FORM)?) } else { None };
    words.finish(FORM)?;
    Ok(GuaranteeDecl { span, text: text.to_string(), claim, when })
}

fn read_never(words: &mut Words<'_>, form: &str) -> Parsed<ClaimDecl> {
    let never = read_atoms(words)?;
    if words.skip_if("after") {
        let after = read_atoms(words)?;
        let unless = if words.skip_if("unless") { Some(read_atoms(words)?) } else { None };
        return Ok(ClaimDecl::After { never, after, unless });
    }
    if !words.skip_if("unless") {
        return Err(Diagnostic::error(
            Code::Phrase,
            words.here(),
            "`unless` or `after` is missing here",
            form,
        ));
    }
    let unless = read_atoms(words)?;
    if !words.skip_if("since") {
        return Err(Diagnostic::error(Code::Phrase, words.here(), "`since` is missing here", form));
    }
    Ok(ClaimDecl::Unless { never, unless, since: read_atoms(words)? })
}

fn read_atoms(words: &mut Words<'_>) -> Parsed<AtomsDecl> {
    let mut atoms = vec![read_atom(words)?];
    while words.skip_if("or") {
        atoms.push(read_atom(words)?);
    }
    Ok(atoms)
}

fn read_atom(words: &mut Words<'_>) -> Parsed<AtomDecl> {
    const KEYWORDS: &[&str] = &["unless", "since", "after", "or", "always", ","];
    if words.peek() == Some("change") && words.second() == Some("of") {
        words.position += 2;
        return Ok(AtomDecl::Change(words.name("an artifact")?));
    }
    let first = words.name("a phase, a signal, an effect or an end")?;
    match words.peek() {
        Some(word) if !KEYWORDS.contains(&word) => {
            let second = words.name("a signal")?;
            Ok(AtomDecl::Pair(first, second))
        }
        Some(_) | None => Ok(AtomDecl::Word(first)),
    }
}

fn read_count(words: &mut Words<'_>, form: &str) -> Parsed<(u32, u32)> {
    let fixed = u32::from(words.number("the number of dispatches")?);
    let mut per_task = 0;
    if words.skip_if("+") {
        per_task = u32::from(words.number("the number of dispatches per task")?);
        if !(words.skip_if("per") && words.skip_if("task")) {
            return Err(Diagnostic::error(Code::Phrase, words.here(), "`per task` is missing here", form));
        }
    }
    if !words.skip_if("dispatches") {
        return Err(Diagnostic::error(Code::Phrase, words.here(), "`dispatches` is missing here", form));
    }
    Ok((fixed, per_task))
}

fn read_length(words: &mut Words<'_>, form: &str) -> Parsed<LengthDecl> {
    let order = |word: Option<&str>| match word {
        Some(">") => Some(Order::Above),
        Some("<=") => Some(Order::AtMost),
        Some(_) | None => None,
    };
    if words.skip_if("when") {
        let list = words.name("the name of a list")?.value;
        if let Some(order) = order(words.peek()) {
            words.position += 1;
            return Ok(LengthDecl { list, order, number: words.number("the number of items")? });
        }
    }
    let message = "only `when LIST > N` or `when LIST <= N` is allowed here";
    Err(Diagnostic::error(Code::Phrase, words.here(), message, form))
}
