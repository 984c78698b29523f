//! The expectation for one result: its schema, the role's contract, and facts about the run.

use super::pointers::Documents;
use super::schema::SchemaId;
use super::schema::failure::{Producer, Trigger};
use super::yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The verdicts that mean a specification has no gaps.
pub(super) const NO_GAPS: [&str; 2] = ["none", "clean"];

/// The verdict of a plan that disputes a finding that binds it.
pub(super) const DISPUTED: &str = "disputed";

/// The example of a design: a document that states an approach.
const DESIGN_EXAMPLE: &str = include_str!("examples/design-document.yaml");

/// What one dispatch must return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expectation {
    pub schema: SchemaId,
    /// The role's title, such as `check/code`.
    pub role: String,
    /// The phase.
    pub step: String,
    /// Distinguishes parallel dispatches: a focus, a task or a batch. Empty if there is only one.
    pub instance: String,
    /// The role's verdicts, the success verdict first.
    pub says: Vec<String>,
    pub findings: FindingsRule,
    pub approach: ApproachRule,
    /// The flags that the phase sets.
    pub sets: Vec<String>,
    /// The phases that a finding may name as its origin; empty if findings have no origin.
    pub injects: Vec<String>,
    pub known: RunFacts,
}

/// Whether a role reports findings, and which fields a finding needs in addition to id, severity, category and claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingsRule {
    /// The role is not asked for findings. Any that it lists are still accepted.
    #[default]
    NotAsked,
    /// The role reports findings. A rejecting verdict needs at least one.
    Reports { needs: Vec<FindingField> },
}

impl FindingsRule {
    /// The rule of a contract. A finding without a location and evidence cannot be acted on, and one without a kind cannot
    /// be routed by kind.
    pub fn of_contract(reports: bool, by_kind: bool) -> FindingsRule {
        if !reports {
            return FindingsRule::NotAsked;
        }
        let mut needs = vec![FindingField::Place, FindingField::Evidence];
        if by_kind {
            needs.push(FindingField::Kind);
        }
        FindingsRule::Reports { needs }
    }
}

/// A field of a finding that a contract may require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingField {
    Kind,
    InjectedBy,
    Place,
    Evidence,
    Impact,
    Recommendation,
}

impl FindingField {
    pub fn name(self) -> &'static str {
        match self {
            FindingField::Kind => "kind",
            FindingField::InjectedBy => "injected_by",
            FindingField::Place => "place",
            FindingField::Evidence => "evidence",
            FindingField::Impact => "impact",
            FindingField::Recommendation => "recommendation",
        }
    }
}

/// Whether a role must state the approach of its design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApproachRule {
    #[default]
    NotAsked,
    Stated,
}

/// Facts about the run that a result may refer to. A field that is `None` is not checked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunFacts {
    /// The artifacts that the pointers in a plan may name.
    pub documents: Option<Documents>,
    /// Ids of the acceptance criteria that must be judged.
    pub criteria: Option<Vec<String>>,
    /// Ids of the assigned gaps, or of the gaps whose proposals are reviewed.
    pub gaps: Option<Vec<String>>,
    /// Ids of the findings that the role received.
    pub findings: Option<Vec<String>>,
    /// Ids of all findings of the run, which a finding may repeat.
    #[serde(default)]
    pub reported: Option<Vec<String>>,
    /// Ids of the findings that bind the plan.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// The task of the dispatch.
    pub task: Option<String>,
    /// The ticket number in the ids of design decisions.
    pub numbered: Option<String>,
    /// The design that the result is about.
    pub design: Option<String>,
    /// The findings that a delta of the design must address.
    pub answers: Option<CitedSections>,
    /// The facts that a findings report must match.
    pub blocked: Option<FailureFacts>,
}

/// The sections and decisions of a design that findings cite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedSections {
    /// The flawed part.
    pub section: String,
    /// The part to change.
    pub scope: String,
    /// The parts to keep.
    pub preserve: Vec<String>,
}

/// What the engine knows about a failed design before an agent reports on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureFacts {
    /// The number of the revision that the findings ask for.
    pub revision: u16,
    pub producer: Producer,
    /// `None` if a human requested the revision.
    pub trigger: Option<Trigger>,
    /// The numbers of the attempts at the failed design; empty if it was not implemented.
    #[serde(default)]
    pub attempts: Vec<u32>,
}

impl Expectation {
    /// An expectation without findings, flags, origins or facts about the run.
    pub fn new(schema: SchemaId, role: &str, step: &str, says: &[&str]) -> Expectation {
        Expectation {
            schema,
            role: role.to_string(),
            step: step.to_string(),
            instance: String::new(),
            says: says.iter().map(|verdict| (*verdict).to_string()).collect(),
            findings: FindingsRule::NotAsked,
            approach: ApproachRule::NotAsked,
            sets: Vec::new(),
            injects: Vec::new(),
            known: RunFacts::default(),
        }
    }

    /// A complete example with the verdicts and ids of this dispatch. The contract accepts it.
    pub fn example(&self) -> String {
        self.filled_example().map_or_else(|| self.template().to_string(), |value| yaml::to_yaml(&value))
    }

    /// The payload of the example.
    pub fn example_payload(&self) -> Option<Value> {
        self.filled_example().map(|mut value| value["payload"].take())
    }

    fn template(&self) -> &'static str {
        match (self.schema, self.approach) {
            (SchemaId::Document, ApproachRule::Stated) => DESIGN_EXAMPLE,
            _ => self.schema.schema().example,
        }
    }

    fn filled_example(&self) -> Option<Value> {
        // A test proves that every example parses.
        let mut value: Value = serde_saphyr::from_str(self.template()).ok()?;
        value["agent"] = Value::from(self.role.as_str());
        value["instance"] = Value::from(self.instance.as_str());
        value["step"] = Value::from(self.step.as_str());
        let payload = &mut value["payload"];
        let template_verdict = payload["verdict"].as_str().unwrap_or_default().to_string();
        let has_entries =
            |key: &str| payload.get(key).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        let means_gaps = |verdict: &&String| !NO_GAPS.contains(&verdict.as_str());
        let verdict = match self.says.as_slice() {
            says if says.contains(&template_verdict) => Some(template_verdict),
            says if has_entries("gaps") => says.iter().find(means_gaps).cloned(),
            [_, rejecting, ..] if has_entries("findings") => Some(rejecting.clone()),
            [success, ..] => Some(success.clone()),
            [] => None,
        };
        if let Some(verdict) = verdict {
            payload["verdict"] = Value::from(verdict);
        }
        self.use_known_ids(payload);
        Some(value)
    }

    /// Puts ids of this run into the example, so no agent copies an id that does not exist.
    fn use_known_ids(&self, payload: &mut Value) {
        if let (Some(task), Some(Value::String(given))) = (&self.known.task, payload.get_mut("task")) {
            given.clone_from(task);
        }
        let mut list = |key: &str, change: &mut dyn FnMut(&mut Vec<Value>)| {
            if let Some(entries) = payload.get_mut(key).and_then(Value::as_array_mut) {
                change(entries);
            }
        };
        if let Some(origin) = self.injects.first() {
            list("findings", &mut |all| {
                all.iter_mut()
                    .for_each(|finding| finding["injected_by"] = Value::from(vec![origin.as_str()]));
            });
        }
        if let Some(ids) = &self.known.criteria {
            list("criteria", &mut |rows| {
                let Some(first) = rows.first().cloned() else { return };
                let judged = ids.iter().map(|id| {
                    let mut row = first.clone();
                    row["criterion"] = Value::from(id.as_str());
                    row
                });
                *rows = judged.collect();
            });
        }
        if let Some(gap) = self.known.gaps.as_ref().and_then(|gaps| gaps.first()) {
            for key in ["proposals", "reviews"] {
                list(key, &mut |all| {
                    all.iter_mut().for_each(|entry| entry["gap"] = Value::from(gap.as_str()))
                });
            }
        }
        let first_task = payload.pointer("/tasks/0/id").cloned();
        if let (Some(task), false) = (first_task, self.known.constraints.is_empty()) {
            let met = |id: &String| serde_json::json!({"id": id, "met_by": [task]});
            payload["constraints"] = self.known.constraints.iter().map(met).collect();
        }
        self.use_ticket_facts(payload);
        let mut list = |key: &str, change: &mut dyn FnMut(&mut Vec<Value>)| {
            if let Some(entries) = payload.get_mut(key).and_then(Value::as_array_mut) {
                change(entries);
            }
        };
        if self.known.documents.is_some() {
            let empty = || Value::Array(Vec::new());
            list("tasks", &mut |all| all.iter_mut().for_each(|task| task["relevant_context"] = empty()));
        }
    }

    /// Puts facts about the ticket into the example.
    fn use_ticket_facts(&self, payload: &mut Value) {
        if let Some(blocked) = &self.known.blocked {
            payload["revision"] = Value::from(blocked.revision);
            payload["produced_by"] = serde_json::to_value(blocked.producer).unwrap_or_default();
            if let Some(trigger) = blocked.trigger {
                payload["trigger"] = serde_json::to_value(trigger).unwrap_or_default();
            }
            if let (Some(number), Some(row)) =
                (blocked.attempts.last(), payload.pointer_mut("/iterations/0/number"))
            {
                *row = Value::from(*number);
            }
        }
        if let (Some(number), ApproachRule::Stated) = (&self.known.numbered, self.approach) {
            let renumbered = payload.to_string().replace("DD-0079-", &format!("DD-{number}-"));
            *payload = serde_json::from_str(&renumbered).unwrap_or_else(|_| payload.take());
        }
        let has_criteria =
            payload.get("criteria").and_then(Value::as_array).is_some_and(|rows| !rows.is_empty());
        if let (Some(ids), SchemaId::Verdict, false) = (&self.known.criteria, self.schema, has_criteria) {
            let row = |id: &String| serde_json::json!({"criterion": id, "met": "met", "place": {"file": "document.md", "symbol": "Section"}});
            payload["criteria"] = ids.iter().map(row).collect();
        }
    }
}
