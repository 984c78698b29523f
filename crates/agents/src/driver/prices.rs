//! Computes the cost of a dispatch from token counts and the price of the model, if the agent does not report a cost.
//!
//! A cost is computed only if model, price and token counts are known. Otherwise it is unknown, never zero.

use super::AgentReport;
use remand_ledger::fact::TokenCounts;
use remand_notation::amount::money as micros;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The built-in list prices.
const LIST_PRICES: &str = include_str!("../../../../agents/prices.toml");

/// The number of tokens that a price is for.
const MILLION: u128 = 1_000_000;

/// The price of a million tokens of each kind, in micro-units of the currency; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Price {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The price of tokens read from the service's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// The price of tokens written to the service's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
}

/// The prices of a run by model name. A name that ends in `*` matches all models with that prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Prices of the configuration, which take precedence.
    own: BTreeMap<String, Price>,
    listed: BTreeMap<String, Price>,
}

/// A cost, and the name of the price that it was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedCost {
    /// Micro-units of the currency.
    pub money: u64,
    pub price: String,
}

impl Price {
    /// The cost of tokens, rounded up; `None` if the price of a kind that was used is unknown.
    pub fn cost(&self, tokens: TokenCounts) -> Option<u64> {
        let kinds = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cached, self.cached),
            (tokens.stored, self.stored),
        ];
        let mut sum: u128 = 0;
        for (count, price) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            sum = sum.saturating_add(u128::from(count) * u128::from(price?));
        }
        Some(u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }

    fn or(self, fallback: Price) -> Price {
        Price {
            input: self.input.or(fallback.input),
            output: self.output.or(fallback.output),
            cached: self.cached.or(fallback.cached),
            stored: self.stored.or(fallback.stored),
        }
    }
}

impl Prices {
    /// The list prices and the configured ones. A configured price overrides only the kinds of tokens that it states.
    pub fn from_config(configured: &BTreeMap<String, Price>) -> Prices {
        let listed = list_prices();
        let own = configured.iter().map(|(name, price)| {
            let name = name.to_ascii_lowercase();
            let price = price.or(listed.get(&name).copied().unwrap_or_default());
            (name, price)
        });
        Prices { own: own.collect(), listed }
    }

    /// The cost of a model's tokens; `None` if the price of a kind that was used is unknown.
    pub fn cost(&self, model: &str, tokens: TokenCounts) -> Option<ComputedCost> {
        let names = names(model);
        let (name, price) = find(&self.own, &names).or_else(|| find(&self.listed, &names))?;
        Some(ComputedCost { money: price.cost(tokens)?, price: name.clone() })
    }
}

impl AgentReport {
    /// Fills in the cost if the agent did not report it and it can be computed.
    pub fn fill_in_cost(&mut self, prices: &Prices) {
        let (None, Some(model), Some(tokens)) = (self.usage.money, &self.model, self.tokens) else { return };
        if let Some(ComputedCost { money, price }) = prices.cost(model, tokens) {
            self.usage.money = Some(money);
            self.price = Some(price);
        }
    }
}

/// The names under which a model may be listed, the most exact first: the full name, the name without its date, and both
/// without the provider.
fn names(model: &str) -> Vec<String> {
    let model = model.trim().to_ascii_lowercase();
    let mut names = Vec::new();
    let mut rest = Some(model.as_str());
    while let Some(name) = rest {
        names.push(name.to_string());
        names.extend(without_date(name).map(str::to_string));
        rest = name.split_once('/').map(|(_, name)| name);
    }
    names
}

/// The name without a date at its end, such as `-20250929`, `@20250929` or `-2025-09-29`.
fn without_date(name: &str) -> Option<&str> {
    let is_day = |text: &str| {
        let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        text.starts_with("20") && (shape == "00000000" || shape == "0000-00-00")
    };
    let split = |length: usize| {
        let (name, day) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let name = name.strip_suffix(['-', '@'])?;
        (!name.is_empty() && is_day(day)).then_some(name)
    };
    split("00000000".len()).or_else(|| split("0000-00-00".len()))
}

/// The price of the first name that is listed, or else of the longest matching prefix.
fn find<'p>(prices: &'p BTreeMap<String, Price>, names: &[String]) -> Option<(&'p String, &'p Price)> {
    let exact = names.iter().find_map(|name| prices.get_key_value(name).filter(|_| !name.ends_with('*')));
    exact.or_else(|| {
        let prefixes = prices.iter().filter_map(|(name, price)| Some((name.strip_suffix('*')?, name, price)));
        let matching = prefixes.filter(|(prefix, _, _)| names.iter().any(|name| name.starts_with(prefix)));
        matching.max_by_key(|(prefix, _, _)| prefix.len()).map(|(_, name, price)| (name, price))
    })
}

/// The built-in table. A test proves that all of it can be read.
fn list_prices() -> BTreeMap<String, Price> {
    let table: BTreeMap<String, BTreeMap<String, toml::Value>> =
        toml::from_str(LIST_PRICES).unwrap_or_default();
    let price = |kinds: &BTreeMap<String, toml::Value>| {
        let kind = |kind: &str| micros(&kinds.get(kind)?.to_string()).ok();
        Price { input: kind("input"), output: kind("output"), cached: kind("cached"), stored: kind("stored") }
    };
    table.iter().map(|(name, kinds)| (name.clone(), price(kinds))).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use remand_kernel::event::Usage;

    const USED: TokenCounts = TokenCounts { input: 1_000, output: 200, cached: 30_000, stored: 0 };

    fn price(input: u64, output: u64) -> Price {
        Price { input: Some(input), output: Some(output), ..Price::default() }
    }

    fn configured(prices: &[(&str, Price)]) -> Prices {
        Prices::from_config(&prices.iter().map(|(name, price)| ((*name).to_string(), *price)).collect())
    }

    fn price_name(prices: &Prices, model: &str) -> Option<String> {
        prices.cost(model, TokenCounts { input: 1, ..TokenCounts::default() }).map(|cost| cost.price)
    }

    #[test]
    fn every_listed_price_is_readable_and_plausible() {
        let listed = list_prices();
        let table_count = LIST_PRICES.lines().filter(|line| line.starts_with('[')).count();
        assert!(table_count > 10 && listed.len() == table_count, "{listed:?}");
        for (name, price) in listed {
            let (input, output) = (price.input.expect("input"), price.output.expect("output"));
            assert!(0 < input && input < output, "{name}");
            assert!(price.cached.is_some_and(|cached| 0 < cached && cached < input), "{name}");
            assert!(price.stored.is_none_or(|stored| input <= stored && stored < output), "{name}");
            assert!(name == name.to_ascii_lowercase() && !name.ends_with('*'), "{name}");
        }
    }

    // CORE-11
    #[test]
    fn a_cost_is_rounded_up_to_the_micro_unit() {
        let price = Price { cached: Some(300_000), ..price(3_000_000, 15_000_000) };
        assert_eq!(price.cost(USED), Some(3_000 + 3_000 + 9_000));
        assert_eq!(price.cost(TokenCounts { cached: 1, ..TokenCounts::default() }), Some(1));
        assert_eq!(price.cost(TokenCounts::default()), Some(0));
        assert_eq!(price.cost(TokenCounts { stored: 1, ..USED }), None, "the price of this kind is unknown");
        assert_eq!(price.cost(TokenCounts { output: u64::MAX, ..TokenCounts::default() }), Some(u64::MAX));
    }

    #[test]
    fn a_model_is_found_despite_a_provider_or_date_in_its_name() {
        let prices = configured(&[]);
        for model in [
            "claude-sonnet-5",
            "Claude-Sonnet-5",
            "anthropic/claude-sonnet-5",
            "openrouter/anthropic/claude-sonnet-5",
            "claude-sonnet-5-20260114",
            "vertex/claude-sonnet-5@20260114",
            "claude-sonnet-5-2026-01-14",
        ] {
            assert_eq!(price_name(&prices, model).as_deref(), Some("claude-sonnet-5"), "{model}");
        }
        assert_eq!(price_name(&prices, "claude-sonnet-5-5").as_deref(), Some("claude-sonnet-5-5"));
        for model in
            ["claude-sonnet", "claude-sonnet-5:free", "claude-sonnet-5-max", "sonnet", "", "-20260114"]
        {
            assert_eq!(price_name(&prices, model), None, "{model}");
        }
    }

    #[test]
    fn configured_prices_take_precedence_and_the_longest_prefix_counts() {
        let prices = configured(&[
            ("claude-*", price(1, 1)),
            ("claude-opus-*", price(2, 2)),
            ("local/claude-opus-5", price(3, 3)),
            ("gpt-5", Price { output: Some(4), ..Price::default() }),
        ]);
        assert_eq!(price_name(&prices, "anthropic/claude-sonnet-5").as_deref(), Some("claude-*"));
        assert_eq!(price_name(&prices, "claude-opus-5").as_deref(), Some("claude-opus-*"));
        assert_eq!(price_name(&prices, "local/claude-opus-5").as_deref(), Some("local/claude-opus-5"));
        assert_eq!(price_name(&prices, "gemini-2.5-flash").as_deref(), Some("gemini-2.5-flash"));
        let cost = prices
            .cost("gpt-5", TokenCounts { input: 1_000_000, output: 1_000_000, ..TokenCounts::default() });
        assert_eq!(
            cost.expect("a price").money,
            1_250_004,
            "a kind that is not configured keeps its list price"
        );
    }

    // CORE-11
    #[test]
    fn a_reported_cost_counts_and_an_unknown_cost_stays_unknown() {
        let prices = configured(&[("m", Price { cached: Some(1_000_000), ..price(1_000_000, 1_000_000) })]);
        let report = |money, tokens, model: Option<&str>| {
            let usage = Usage { money, ..Usage::default() };
            let mut report =
                AgentReport { usage, tokens, model: model.map(str::to_string), ..AgentReport::default() };
            report.fill_in_cost(&prices);
            (report.usage.money, report.price)
        };
        assert_eq!(report(Some(7), Some(USED), Some("m")), (Some(7), None));
        assert_eq!(report(Some(0), Some(USED), Some("m")), (Some(0), None));
        assert_eq!(report(None, Some(USED), Some("m")), (Some(31_200), Some("m".to_string())));
        assert_eq!(report(None, None, Some("m")), (None, None));
        assert_eq!(report(None, Some(USED), None), (None, None));
        assert_eq!(report(None, Some(USED), Some("other")), (None, None));
    }
}
