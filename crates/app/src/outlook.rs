//! What a run will probably cost and take, together with its proven bound.

use crate::beginning;
use crate::workplace::Workplace;
use remand_engine::host::NewRun;
use remand_engine::pinned::{AgentChoice, Pinned, PinnedAgent};
use remand_engine::quality::{AssumedCost, Forecast, ForecastBasis, Likely, Prospect};
use remand_kernel::program::Program;
use remand_ledger::fact::TokenCounts;
use remand_terminal::table::FieldList;
use remand_terminal::{CommandFailure, Ink, amount};
use remand_workflow::explore;
use serde_json::{Value, json};

/// The tokens of a dispatch of medium length: a prompt of 40,000 tokens, read from the cache in most of about ten
/// requests. It is an assumption, used only until the ledger has measured dispatches.
const ASSUMED_DISPATCH: TokenCounts =
    TokenCounts { input: 10_000, output: 8_000, cached: 300_000, stored: 40_000 };

/// What is known about a run before it starts.
pub struct Outlook {
    forecast: Forecast,
    /// Why the cost is unknown, if it is.
    unpriced: String,
    bound: String,
    heading: String,
}

impl Outlook {
    /// The outlook for a run that is about to start.
    pub fn read(workplace: &Workplace, new: &NewRun) -> Result<Outlook, CommandFailure> {
        let opened = new.facts.opened.as_ref().map(|opened| opened.pinned);
        let blob = new.blobs.iter().find(|blob| Some(blob.id) == opened);
        let pinned = blob.and_then(|blob| Pinned::parse(&blob.bytes));
        let (list_price, unpriced) = match pinned {
            Some(pinned) => list_price(&pinned),
            None => (None, String::new()),
        };
        let prospect = Prospect { happy: happy_path(&new.program), list_price };
        let reader = workplace.reader_if_any()?;
        Ok(Outlook {
            forecast: Forecast::read(reader.as_ref(), &new.program.name, prospect)?,
            unpriced,
            bound: beginning::describe_bound(&new.program, new.start.mode),
            heading: format!("run {}: {}, {}", new.run, new.program.name, new.start.mode.name()),
        })
    }

    pub fn json(&self) -> Value {
        json!({ "forecast": self.forecast, "currency": amount::CURRENCY, "bound": self.bound })
    }

    pub fn text(&self, ink: Ink) -> String {
        let Forecast { dispatches, time, money } = &self.forecast;
        let mut fields = FieldList::new();
        let dispatches_text = dispatches.as_ref().map_or_else(
            || "unknown dispatches".to_string(),
            |likely| format!("{} dispatches", range(likely, amount::grouped)),
        );
        let time_text =
            time.as_ref().map_or("unknown time".to_string(), |likely| range(likely, amount::time));
        let cost = match money {
            Some(likely) => range(likely, amount::money),
            None => "unknown cost".to_string(),
        };
        fields.add("probably", format!("{cost}; {time_text}; {dispatches_text}"));
        fields.add("based on", self.bases());
        fields.add("at most", format!("{} (proven)", self.bound));
        format!("{}\n{}", self.heading, fields.render(ink))
    }

    /// What the forecast rests on, each basis once.
    fn bases(&self) -> String {
        let Forecast { dispatches, time, money } = &self.forecast;
        let quantities = [("cost", money), ("time", time), ("dispatches", dispatches)];
        let mut bases: Vec<(ForecastBasis, Vec<&str>)> = Vec::new();
        for (name, likely) in quantities {
            let Some(basis) = likely.as_ref().map(|likely| likely.basis) else { continue };
            match bases.iter_mut().find(|(other, _)| *other == basis) {
                Some((_, names)) => names.push(name),
                None => bases.push((basis, vec![name])),
            }
        }
        let mut parts: Vec<String> = bases
            .iter()
            .map(|(basis, names)| format!("{}: {}", names.join(", "), describe(*basis)))
            .collect();
        if money.is_none() {
            parts.push(format!("cost: {}", self.unpriced));
        }
        parts.join("; ")
    }
}

/// The dispatches if nothing is sent back, for one and for three tasks.
fn happy_path(program: &Program) -> Option<(u64, u64)> {
    let happy = |tasks: u16| Some(explore::bound(program, &[("tasks", tasks)]).ok()?.happy);
    Some((happy(1)?, happy(3)?))
}

/// The list price of an assumed dispatch, averaged over the roles; or why there is none.
fn list_price(pinned: &Pinned) -> (Option<AssumedCost>, String) {
    let costs: Result<Vec<u64>, String> =
        pinned.roles.values().map(|role| assumed_cost(pinned, &role.by)).collect();
    match costs {
        Ok(costs) => {
            let money = costs.iter().sum::<u64>().checked_div(costs.len() as u64);
            let assumed = money.map(|money| AssumedCost { tokens: ASSUMED_DISPATCH.total(), money });
            (assumed, "the workflow has no roles".to_string())
        }
        Err(why) => (None, why),
    }
}

/// The list price of an assumed dispatch of one role, or why there is none.
fn assumed_cost(pinned: &Pinned, choice: &AgentChoice) -> Result<u64, String> {
    let default = match pinned.agents.get(&choice.agent) {
        Some(PinnedAgent::Rehearsal(_)) => return Err("the agents are scripted".to_string()),
        Some(PinnedAgent::Cli(row)) => row.model.as_deref(),
        None => None,
    };
    let Some(model) = choice.model.as_deref().or(default) else {
        return Err(format!("no model is set for {}, so no list price applies", choice.agent));
    };
    let cost = pinned.prices.cost(model, ASSUMED_DISPATCH);
    cost.map(|cost| cost.money).ok_or_else(|| format!("{model} has no list price"))
}

fn describe(basis: ForecastBasis) -> String {
    match basis {
        ForecastBasis::Runs { runs } => {
            format!("the last {} of this workflow here", amount::counted(runs as u64, "run"))
        }
        ForecastBasis::Dispatches { dispatches } => {
            format!(
                "the median of {} here, if nothing is sent back",
                amount::counted(dispatches as u64, "dispatch")
            )
        }
        ForecastBasis::HappyPath => "one to three tasks, if nothing is sent back".to_string(),
        ForecastBasis::ListPrices { tokens } => format!(
            "list prices, assuming {} tokens for each dispatch and nothing sent back; no run here was measured yet",
            amount::grouped(tokens)
        ),
    }
}

/// A likely value with its range.
fn range(likely: &Likely, show: fn(u64) -> String) -> String {
    let (expected, low, high) = (show(likely.expected), show(likely.low), show(likely.high));
    match (low == high, expected == low) {
        (true, _) => format!("about {expected}"),
        (false, true) => format!("{low} to {high}"),
        (false, false) => format!("about {expected} ({low} to {high})"),
    }
}
