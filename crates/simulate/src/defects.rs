//! The defects of one run: injected, hidden, repaired, or still there at the end.

use crate::draws::{Drawn, Draws};
use crate::model::{Production, SEVERITIES, SimulationModel};
use remand_kernel::ids::PhaseId;

/// Where work happens: the main line, or a task by its number.
pub(crate) type Desk = Option<u16>;

/// A key for the random numbers about work of one desk.
pub(crate) fn desk_key(desk: Desk) -> u64 {
    desk.map_or(0, |task| u64::from(task) + 1)
}

/// One defect.
#[derive(Clone, Debug)]
pub(crate) struct Defect {
    /// What its random numbers are drawn by; the same in every variant.
    pub key: u64,
    pub origin: PhaseId,
    pub production: Production,
    pub desk: Desk,
    /// Index into `SEVERITIES`.
    pub severity: usize,
    pub is_security: bool,
    pub state: DefectState,
    /// How hard it is to see, for everybody.
    pub difficulty: f64,
    /// How often somebody worked on it.
    pub attempts: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefectState {
    Present,
    /// A patch hides it from reviewers.
    Hidden,
    Gone,
}

/// All defects of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefectStock {
    pub all: Vec<Defect>,
}

/// Why defects are injected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injection<'k> {
    pub phase: PhaseId,
    pub desk: Desk,
    /// The expected number.
    pub mean: f64,
    /// What happened: the visit, or the finding that was worked on.
    pub key: &'k [u64],
}

impl DefectStock {
    /// Injects a random number of defects.
    pub fn inject(&mut self, model: &SimulationModel<'_>, draws: Draws, injection: Injection<'_>) {
        let Injection { phase, desk, mean, key } = injection;
        let Some(production) = model.phase(phase).production else { return };
        let place = [&[model.phase(phase).key, desk_key(desk)], key].concat();
        let count = draws.count(mean, Drawn::DefectCount, &place);
        for number in 0..count {
            let key: Vec<u64> = [place.as_slice(), &[u64::from(number)]].concat();
            let severity = draws.choose(model.severity.iter().copied(), Drawn::Severity, &key);
            let identity = draws.uniform(Drawn::DefectCount, &key).to_bits();
            self.all.push(Defect {
                key: identity,
                origin: phase,
                production,
                desk,
                severity: severity.unwrap_or(1),
                is_security: draws.happens(model.security, Drawn::Security, &key),
                state: DefectState::Present,
                difficulty: draws.normal(Drawn::Difficulty, &key),
                attempts: 0,
            });
        }
    }

    /// Adds the defect of a task that its agent did not do.
    pub fn add_missing_work(&mut self, model: &SimulationModel<'_>, draws: Draws, injection: Injection<'_>) {
        let Injection { phase, desk, key, .. } = injection;
        let Some(production) = model.phase(phase).production else { return };
        let place = [&[model.phase(phase).key, desk_key(desk), u64::MAX], key].concat();
        self.all.push(Defect {
            key: draws.uniform(Drawn::DefectCount, &place).to_bits(),
            origin: phase,
            production,
            desk,
            severity: 2,
            is_security: false,
            state: DefectState::Present,
            difficulty: draws.normal(Drawn::Difficulty, &place),
            attempts: 0,
        });
    }

    /// The defects of a phase, at a desk, that are still there.
    pub fn of_phase(&mut self, phase: PhaseId, desk: Desk) -> impl Iterator<Item = &mut Defect> {
        let is_wanted = move |defect: &&mut Defect| {
            defect.origin == phase && defect.desk == desk && defect.state != DefectState::Gone
        };
        self.all.iter_mut().filter(is_wanted)
    }

    /// Somebody works on a defect in a phase: it is removed, hidden, or stays.
    pub fn work_on(&mut self, model: &SimulationModel<'_>, draws: Draws, at: usize, phase: PhaseId) {
        let Some(defect) = self.all.get_mut(at) else { return };
        if defect.state == DefectState::Gone {
            return;
        }
        defect.attempts += 1;
        let parameters = model.phase(phase);
        let drawn = draws.uniform(Drawn::Fix, &[defect.key, u64::from(defect.attempts)]);
        // Two phases that produce the same kind of thing write the same artifact.
        let is_origin = phase == defect.origin || parameters.production == Some(defect.production);
        if is_origin {
            if drawn < parameters.fix_origin {
                defect.state = DefectState::Gone;
            }
        } else if phase > defect.origin && parameters.production.is_some() {
            if drawn < parameters.fix_patch {
                defect.state = DefectState::Gone;
            } else if drawn < parameters.fix_patch + parameters.fix_hides {
                defect.state = DefectState::Hidden;
            }
        }
    }

    /// Defects still there, by severity.
    pub fn remaining(&self) -> [u16; 4] {
        let mut counts = [0; SEVERITIES.len()];
        for defect in self.all.iter().filter(|defect| defect.state != DefectState::Gone) {
            counts[defect.severity] += 1;
        }
        counts
    }
}
