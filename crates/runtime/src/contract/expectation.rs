//! What is expected of one result: its schema, the role's contract, and what the engine knows of the run.

use super::pointers::Documents;
use super::schema::SchemaId;
use super::schema::failure::{Producer, Trigger};
use super::yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The verdicts on a specification that say there is no gap.
pub(super) const NO_GAPS: [&str; 2] = ["none", "clean"];

/// A document that states an approach: a design.
const DESIGN: &str = include_str!("examples/design-document.yaml");

/// What one dispatch must return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expectation {
    pub schema: SchemaId,
    /// The role's title, such as `check/code`.
    pub role: String,
    /// The phase.
    pub step: String,
    /// Which of several dispatches it is: a focus, a task, a batch; empty when there is one.
    pub instance: String,
    /// The role's verdicts, the happy one first.
    pub says: Vec<String>,
    pub findings: FindingsRule,
    pub approach: ApproachRule,
    /// The flags that the phase sets.
    pub sets: Vec<String>,
    /// The phases that a finding may name as its origin; empty when findings name none.
    pub injects: Vec<String>,
    pub known: Known,
}

/// Whether a role reports findings, and what each must have beside id, severity, category and claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingsRule {
    /// The role need not report any; those it lists are taken.
    #[default]
    NotAsked,
    /// A rejecting verdict needs at least one.
    Reports { needs: Vec<FindingField> },
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

/// Whether a role must state its approach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApproachRule {
    #[default]
    NotAsked,
    Stated,
}

/// What a result may point at. What is `None` is not known here and so not checked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Known {
    /// The artifacts that pointers of a plan may name.
    pub documents: Option<Documents>,
    /// The acceptance criteria that must be judged, by id.
    pub criteria: Option<Vec<String>>,
    /// The gaps that were assigned, or whose proposals are reviewed.
    pub gaps: Option<Vec<String>>,
    /// The findings that were sent to the role, by id.
    pub findings: Option<Vec<String>>,
    /// The task that the dispatch is for.
    pub task: Option<String>,
    /// What decisions of a design are numbered by.
    pub numbered: Option<String>,
    /// The design that the result is about.
    pub design: Option<String>,
    /// The findings that a delta of the design must answer.
    pub answers: Option<Cited>,
    /// What findings about the design must agree with.
    pub blocked: Option<Blocked>,
}

/// What findings about a design say of its sections and decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// What is flawed.
    pub section: String,
    /// What is to change.
    pub scope: String,
    /// What is to stay.
    pub preserve: Vec<String>,
}

/// What the engine knows of a failure before anybody states findings about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The number of the revision that the findings ask for.
    pub revision: u16,
    pub producer: Producer,
    /// None when nothing but a human's wish led there.
    pub trigger: Option<Trigger>,
}

impl Expectation {
    /// An expectation without findings, flags, origins and knowledge of the run.
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
            known: Known::default(),
        }
    }

    /// The filled example of the schema, in the words of this role: it would be accepted.
    pub fn example(&self) -> String {
        self.filled().map_or_else(|| self.pattern().to_string(), |value| yaml::to_yaml(&value))
    }

    /// What the filled example holds besides its header.
    pub fn example_payload(&self) -> Option<Value> {
        self.filled().map(|mut value| value["payload"].take())
    }

    fn pattern(&self) -> &'static str {
        match (self.schema, self.approach) {
            (SchemaId::Document, ApproachRule::Stated) => DESIGN,
            _ => self.schema.schema().example,
        }
    }

    fn filled(&self) -> Option<Value> {
        let mut value: Value = serde_saphyr::from_str(self.pattern()).ok()?;
        value["agent"] = Value::from(self.role.as_str());
        value["instance"] = Value::from(self.instance.as_str());
        value["step"] = Value::from(self.step.as_str());
        let payload = &mut value["payload"];
        let was = payload["verdict"].as_str().unwrap_or_default().to_string();
        let lists = |key: &str| payload.get(key).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        let says_some = |verdict: &&String| !NO_GAPS.contains(&verdict.as_str());
        let verdict = match self.says.as_slice() {
            says if says.contains(&was) => Some(was),
            says if lists("gaps") => says.iter().find(says_some).cloned(),
            [_, rejecting, ..] if lists("findings") => Some(rejecting.clone()),
            [happy, ..] => Some(happy.clone()),
            [] => None,
        };
        if let Some(verdict) = verdict {
            payload["verdict"] = Value::from(verdict);
        }
        self.adapt_known(payload);
        Some(value)
    }

    /// Names in the example what this run has, so that nobody copies an id that does not exist.
    fn adapt_known(&self, payload: &mut Value) {
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
        self.adapt_ticket(payload);
        let mut list = |key: &str, change: &mut dyn FnMut(&mut Vec<Value>)| {
            if let Some(entries) = payload.get_mut(key).and_then(Value::as_array_mut) {
                change(entries);
            }
        };
        if self.known.documents.is_some() {
            let none = || Value::Array(Vec::new());
            list("tasks", &mut |all| all.iter_mut().for_each(|task| task["relevant_context"] = none()));
        }
    }

    /// The same for what is known of a ticket.
    fn adapt_ticket(&self, payload: &mut Value) {
        if let Some(blocked) = &self.known.blocked {
            payload["revision"] = Value::from(blocked.revision);
            payload["produced_by"] = serde_json::to_value(blocked.producer).unwrap_or_default();
            if let Some(trigger) = blocked.trigger {
                payload["trigger"] = serde_json::to_value(trigger).unwrap_or_default();
            }
        }
        if let (Some(number), ApproachRule::Stated) = (&self.known.numbered, self.approach) {
            let renumbered = payload.to_string().replace("DD-0079-", &format!("DD-{number}-"));
            *payload = serde_json::from_str(&renumbered).unwrap_or_else(|_| payload.take());
        }
        let judged = payload.get("criteria").and_then(Value::as_array).is_some_and(|rows| !rows.is_empty());
        if let (Some(ids), SchemaId::Verdict, false) = (&self.known.criteria, self.schema, judged) {
            let row = |id: &String| serde_json::json!({"criterion": id, "met": "met", "place": {"file": "document.md", "symbol": "Section"}});
            payload["criteria"] = ids.iter().map(row).collect();
        }
    }
}
