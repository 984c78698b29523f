//! The metrics of a run: totals since it started, as of its last event.

use crate::SCHEMA;
use crate::attribute::{Attributes, nanos, provider, resource, scope};
use crate::record::RunRecord;
use remand_ledger::query::DispatchRow;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Every value counts from the start of the run.
const CUMULATIVE: u8 = 2;

/// The bounds that the conventions recommend for tokens.
const TOKEN_BOUNDS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Bounds for the durations of agents, in seconds.
const SECOND_BOUNDS: [f64; 12] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0, 7_200.0];

/// One series: its attributes as text, and its values in order.
type Series = BTreeMap<String, (Attributes, Vec<f64>)>;

/// The metrics of a run as OTLP.
pub fn metrics(record: &RunRecord) -> Value {
    let (mut tokens, mut seconds) = (Series::new(), Series::new());
    for row in &record.dispatches {
        for (kind, count) in row.spent.iter().flat_map(token_kinds) {
            observe(
                &mut tokens,
                agent(row).text("gen_ai.token.type", kind).text("remand.run.id", &row.run.0),
                count as f64,
            );
        }
        if let Some(end) = row.completed_at {
            let took = end.0.saturating_sub(row.started_at.0).max(0);
            let attributes =
                agent(row).text_if("error.type", row.failure.as_ref()).text("remand.run.id", &row.run.0);
            observe(&mut seconds, attributes, took as f64 / 1000.0);
        }
    }
    let workflow = || Attributes::default().text("gen_ai.workflow.name", &record.row.workflow);
    let passed = record.checks.iter().filter(|row| row.passed).count() as u64;
    let failed = record.checks.len() as u64 - passed;
    let result = |name: &str| workflow().text("cicd.pipeline.task.run.result", name);
    let mut list = vec![
        histogram(record, "gen_ai.client.token.usage", "{token}", &tokens, &TOKEN_BOUNDS),
        histogram(record, "gen_ai.client.operation.duration", "s", &seconds, &SECOND_BOUNDS),
        sum(record, "remand.run.dispatches", "{dispatch}", vec![(workflow(), record.row.used.dispatches)]),
        sum(record, "remand.run.remands", "{remand}", vec![(workflow(), record.remands)]),
        sum(record, "remand.run.findings", "{finding}", vec![(workflow(), record.findings.len() as u64)]),
        sum(
            record,
            "remand.run.checks",
            "{check}",
            vec![(result("success"), passed), (result("failure"), failed)],
        ),
    ];
    // The total of some known costs would look like the cost of the run.
    if record.row.used.unpriced == 0 {
        list.push(sum(record, "remand.run.cost", "{micro}", vec![(workflow(), record.row.used.money)]));
    }
    list.retain(|metric| !metric.is_null());
    let version = &record.row.version;
    json!({ "resourceMetrics": [{
        "resource": resource(version),
        "scopeMetrics": [{ "scope": scope(version), "metrics": list, "schemaUrl": SCHEMA }],
    }] })
}

fn token_kinds(kinds: &remand_ledger::fact::TokenCounts) -> [(&'static str, u64); 2] {
    let input = kinds.input.saturating_add(kinds.cached).saturating_add(kinds.stored);
    [("input", input), ("output", kinds.output)]
}

fn agent(row: &DispatchRow) -> Attributes {
    Attributes::default()
        .text("gen_ai.operation.name", "invoke_agent")
        .text_if("gen_ai.provider.name", row.driver.as_deref().map(provider))
        .text_if("gen_ai.request.model", row.model.as_ref())
        .text("gen_ai.agent.name", &row.role)
}

fn observe(series: &mut Series, attributes: Attributes, value: f64) {
    let key = attributes.clone().into_json().to_string();
    series.entry(key).or_insert_with(|| (attributes, Vec::new())).1.push(value);
}

fn histogram(record: &RunRecord, name: &str, unit: &str, series: &Series, bounds: &[f64]) -> Value {
    if series.is_empty() {
        return Value::Null;
    }
    let points: Vec<Value> = series
        .values()
        .map(|(attributes, values)| {
            let mut buckets = vec![0_u64; bounds.len() + 1];
            for value in values {
                buckets[bounds.iter().take_while(|bound| value > bound).count()] += 1;
            }
            let buckets: Vec<String> = buckets.iter().map(u64::to_string).collect();
            json!({
                "attributes": attributes.clone().into_json(),
                "startTimeUnixNano": nanos(record.row.created_at),
                "timeUnixNano": nanos(record.row.updated_at),
                "count": values.len().to_string(),
                "sum": values.iter().sum::<f64>(),
                "bucketCounts": buckets,
                "explicitBounds": bounds,
            })
        })
        .collect();
    let data = json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points });
    json!({ "name": name, "unit": unit, "histogram": data })
}

fn sum(record: &RunRecord, name: &str, unit: &str, values: Vec<(Attributes, u64)>) -> Value {
    let points: Vec<Value> = values
        .into_iter()
        .map(|(attributes, value)| {
            json!({
                // The series of two runs are two series.
                "attributes": attributes.text("remand.run.id", &record.row.run.0).into_json(),
                "startTimeUnixNano": nanos(record.row.created_at),
                "timeUnixNano": nanos(record.row.updated_at),
                "asInt": value.to_string(),
            })
        })
        .collect();
    let data = json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points });
    json!({ "name": name, "unit": unit, "sum": data })
}
