//! The report of simulations for people.

use super::{Parameters, Simulated, Simulations};
use remand_simulate::{MIN_RUNS, MeanDifference, ParameterBasis, RAISE, SimulationSummary, Spread};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{Ink, Tone, amount, line};

/// The number of parameters that are listed by their effect.
const EFFECTS: usize = 10;

pub fn report(simulations: &Simulations, ink: Ink) -> String {
    let mut parts = vec![match simulations.all.as_slice() {
        [only] => one(simulations, only, ink),
        all => side_by_side(simulations, all, ink),
    }];
    parts.extend(effects(simulations, ink));
    let notes = simulations.all.iter().flat_map(|simulated| {
        let broken = simulated.variant.broken.iter();
        broken.map(|guarantee| {
            format!("{} no longer has the guarantee `{}`", simulations.name(simulated), line::one(guarantee))
        })
    });
    let refused =
        simulations.refused.iter().map(|(variant, why)| format!("{variant} cannot be simulated: {why}"));
    let notes: Vec<String> = notes.chain(refused).collect();
    if !notes.is_empty() {
        parts.push(format!("{}\n", notes.join("\n")));
    }
    let bases = simulations.parameters.iter().map(|(workflow, parameters)| {
        match simulations.has_several_workflows() {
            true => format!("{workflow}: {}", basis(parameters)),
            false => basis(parameters),
        }
    });
    parts.push(format!(
        "{}\nThese figures are only as good as the parameters; --print-parameters shows each with its source.\n",
        bases.collect::<Vec<String>>().join("\n")
    ));
    parts.join("\n")
}

/// What parameters rest on, in one sentence.
pub fn basis(parameters: &Parameters) -> String {
    let (mut defaults, mut fitted, mut set) = (0, 0, 0);
    for (_, value) in parameters.set.iter() {
        match value.basis {
            ParameterBasis::Default { .. } => defaults += 1,
            ParameterBasis::Fitted { .. } => fitted += 1,
            ParameterBasis::Set => set += 1,
        }
    }
    let fitted = match parameters.fitted_runs {
        0 => format!(
            "none fitted ({} here, {MIN_RUNS} are needed)",
            amount::counted(parameters.known_runs as u64, "run")
        ),
        runs => format!("{fitted} fitted from {} here", amount::counted(runs as u64, "run")),
    };
    let set = if set == 0 { String::new() } else { format!(", {set} set by you") };
    format!("parameters: {defaults} defaults, {fitted}{set}")
}

fn heading(simulations: &Simulations, name: &str, ink: Ink) -> String {
    let plan = simulations.plan;
    format!(
        "{}: {}, {}, seed {}\n",
        ink.paint(Tone::Strong, &line::one(name)),
        amount::counted(u64::from(plan.runs), "simulated run"),
        plan.mode.name(),
        plan.seed
    )
}

fn one(simulations: &Simulations, only: &Simulated, ink: Ink) -> String {
    let summary = &only.summary;
    let name = match only.variant.label.is_empty() {
        true => only.workflow.clone(),
        false => format!("{} {}", only.workflow, only.variant.label),
    };
    let mut text = heading(simulations, &name, ink);
    let whole = ColumnFit::Whole;
    let mut table = TextTable::new(&[
        ("", whole),
        ("mean", whole),
        ("10%", whole),
        ("half", whole),
        ("90%", whole),
        ("99%", whole),
        ("highest", whole),
    ]);
    let mut row = |name: &str, spread: &Spread, show: fn(f64) -> String| {
        let values = [spread.mean, spread.p10, spread.p50, spread.p90, spread.p99, spread.max];
        table.row([Cell::new(name)].into_iter().chain(values.map(|value| Cell::new(show(value)))).collect());
    };
    row("cost", &summary.money, money);
    row("time of work", &summary.time, time);
    row("waiting for a person", &summary.waiting, time);
    row("dispatches", &summary.dispatches, decimal);
    row("tokens", &summary.tokens, tokens);
    row("defects made", &summary.injected, decimal);
    row("defects in a commit", &summary.escaped, decimal);
    text.push_str(&table.render(ink));
    text.push_str(&format!("\n{}", shares(only, summary)));
    text
}

fn shares(only: &Simulated, summary: &SimulationSummary) -> String {
    let ends = summary.ends;
    let by_severity: Vec<String> = summary
        .escaped_by_severity
        .iter()
        .rev()
        .map(|count| format!("{:.3} {}", count.mean, count.severity))
        .collect();
    let mut lines = vec![
        format!(
            "ends: {} committed, {} left to you, {} failed, {} stopped",
            percent(ends.committed),
            percent(ends.left_to_you),
            percent(ends.failed),
            percent(ends.stopped)
        ),
        format!(
            "confidence: {} high, {} medium, {} low",
            percent(summary.confidence.high),
            percent(summary.confidence.medium),
            percent(summary.confidence.low)
        ),
        format!("a person is asked in {} of the runs", percent(summary.asked)),
        format!(
            "defects in a commit: {}; {} of the commits have one that is worse than minor",
            by_severity.join(", "),
            percent(summary.flawed)
        ),
    ];
    let budgets = summary.budgets.iter().filter(|budget| budget.spent > 0.0);
    let budgets: Vec<String> = budgets
        .map(|budget| match budget.exhausted > 0.0 {
            true => {
                format!(
                    "{} {} ({} needed more)",
                    budget.budget,
                    percent(budget.spent),
                    percent(budget.exhausted)
                )
            }
            false => format!("{} {}", budget.budget, percent(budget.spent)),
        })
        .collect();
    let never = summary.budgets.iter().filter(|budget| budget.spent <= 0.0).count();
    match budgets.is_empty() {
        true => lines.push("no budget is spent entirely in any run".to_string()),
        false => lines.push(format!(
            "budgets spent entirely: {}{}",
            budgets.join(", "),
            if never > 0 {
                format!("; {} never", amount::counted(never as u64, "other"))
            } else {
                String::new()
            }
        )),
    }
    let limits: Vec<String> = summary
        .limits
        .iter()
        .filter(|limit| limit.reached > 0.0)
        .map(|limit| format!("{} {}", limit.limit, percent(limit.reached)))
        .collect();
    if !limits.is_empty() {
        lines.push(format!("limits reached: {}", limits.join(", ")));
    }
    if summary.given_up > 0.0 {
        lines.push(format!("a task is given up in {} of the runs", percent(summary.given_up)));
    }
    if let Some(bound) = only.bound {
        lines.push(format!(
            "proven bound: {} for the longest simulated plan, with all retries",
            amount::counted(bound, "dispatch")
        ));
    }
    let wrapped = lines.iter().flat_map(|text| line::hanging(text, 2, remand_terminal::table::page_width()));
    let mut text = wrapped.collect::<Vec<String>>().join("\n");
    text.push('\n');
    text
}

fn side_by_side(simulations: &Simulations, all: &[Simulated], ink: Ink) -> String {
    let workflows: Vec<&str> = simulations.parameters.iter().map(|(workflow, _)| workflow.as_str()).collect();
    let mut text = heading(simulations, &workflows.join(", "), ink);
    let whole = ColumnFit::Whole;
    let mut table = TextTable::new(&[
        ("variant", whole),
        ("cost", whole),
        ("90%", whole),
        ("time", whole),
        ("dispatches", whole),
        ("bound", whole),
        ("committed", whole),
        ("asked", whole),
        ("defects", whole),
        ("worse", whole),
        ("cost ±", whole),
        ("worse ±", whole),
    ]);
    for simulated in all {
        let summary = &simulated.summary;
        let difference = |show: &dyn Fn(&MeanDifference) -> String,
                          of: fn(&Simulated) -> Option<MeanDifference>| {
            of(simulated).map_or_else(String::new, |difference| show(&difference))
        };
        table.row(vec![
            Cell::new(simulations.name(simulated)),
            Cell::new(money(summary.money.mean)),
            Cell::new(money(summary.money.p90)),
            Cell::new(time(summary.time.mean)),
            Cell::new(decimal(summary.dispatches.mean)),
            Cell::new(simulated.bound.map_or_else(String::new, amount::grouped)),
            Cell::new(percent(summary.ends.committed)),
            Cell::new(percent(summary.asked)),
            Cell::new(format!("{:.2}", summary.escaped.mean)),
            Cell::new(format!("{:.3}", summary.flaws.mean)),
            Cell::new(difference(&|found| signed(found, 2), |simulated| {
                simulated.difference.map(|difference| difference.money)
            })),
            Cell::new(difference(&|found| signed(found, 3), |simulated| {
                simulated.difference.map(|difference| difference.flaws)
            })),
        ]);
    }
    text.push_str(&table.render(ink));
    let lines = [
        "\"defects\" and \"worse\" (than minor) are means per commit; only work that is committed counts.",
        "The last two columns are the differences from the first variant, run by run with the same random numbers: \
         dollars for each run, and defects worse than minor where both commit. ± is the interval of 95 in 100 cases.",
    ];
    for text_line in lines {
        for wrapped in line::wrap(text_line, remand_terminal::table::page_width()) {
            text.push_str(&format!("{}\n", ink.paint(Tone::Faint, &wrapped)));
        }
    }
    text
}

fn effects(simulations: &Simulations, ink: Ink) -> Option<String> {
    if simulations.effects.is_empty() {
        return None;
    }
    let mut text = format!(
        "if one parameter is {} higher, the most important ones; changes that may be chance are left out:\n",
        percent(RAISE)
    );
    let whole = ColumnFit::Whole;
    let mut table = TextTable::new(&[
        ("parameter", whole),
        ("cost", whole),
        ("dispatches", whole),
        ("committed", whole),
        ("worse defects in a commit", whole),
    ]);
    for effect in simulations.effects.iter().take(EFFECTS) {
        let shown = |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or_else(String::new, show);
        let share = |value: f64| format!("{:+.1}%", 100.0 * value);
        table.row(vec![
            Cell::new(&effect.parameter),
            Cell::new(shown(effect.money, &share)),
            Cell::new(shown(effect.dispatches, &share)),
            Cell::new(shown(effect.committed, &|value| format!("{:+.1} points", 100.0 * value))),
            Cell::new(shown(effect.flaws, &|value| format!("{value:+.3}"))),
        ]);
    }
    text.push_str(&table.render(ink));
    Some(text)
}

fn signed(difference: &MeanDifference, digits: usize) -> String {
    let half = (difference.high - difference.low) / 2.0;
    format!("{:+.digits$} ± {half:.digits$}", difference.mean)
}

fn percent(share: f64) -> String {
    match share {
        small if small > 0.0 && small < 0.0095 => format!("{:.1}%", 100.0 * small),
        _ => format!("{:.0}%", 100.0 * share),
    }
}

fn money(value: f64) -> String {
    amount::money(whole(value * 1e6))
}

fn time(seconds: f64) -> String {
    amount::time(whole(seconds * 1e3))
}

fn tokens(value: f64) -> String {
    amount::grouped(whole(value))
}

fn decimal(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_string)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts are never negative")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
