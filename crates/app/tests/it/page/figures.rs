//! How fast the page is with a run of 20,000 events: the figures are printed, and kept beside the pictures.

use super::browser::Browser;
use super::large::long_run;
use super::live::path_of;
use super::served::Served;
use serde_json::{Value, json};
use std::path::Path;

/// How often each figure is measured; the median counts.
const TIMES: usize = 5;

/// Milliseconds. The goals are a second and 100 ms for a release build; these find what is slower by an order.
const MAX_PAINT: f64 = 5_000.0;
const MAX_INTERACTION: f64 = 500.0;

/// Presses a key and waits until the frame with its effect is drawn.
const KEY: &str = "new Promise((done) => { const start = performance.now(); \
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true })); \
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))); })";

/// Moves the slider and waits until the server's page of that event is shown; only that one groups digits by commas.
const SLIDER: &str = "new Promise((done) => { const start = performance.now(); \
    const slider = document.getElementById('at'); slider.value = String(12345 + Math.floor(start % 1000)); \
    const watch = new MutationObserver(() => { if (document.querySelector('.stage.past') \
        && document.querySelector('.replay .num').textContent === Number(slider.value).toLocaleString('en')) \
        { watch.disconnect(); requestAnimationFrame(() => done(performance.now() - start)); } }); \
    watch.observe(document.getElementById('main'), { childList: true, subtree: true, characterData: true, attributes: true }); \
    slider.dispatchEvent(new Event('input', { bubbles: true })); })";

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

// BY-11
#[test]
fn a_run_of_twenty_thousand_events_is_painted_and_answers_keys_fast() {
    let Some(browser) = Browser::start() else { return };
    let place = long_run();
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelector('li.run') !== null");
    let mut figures = serde_json::Map::new();
    for view in ["", "/rulings", "/timeline"] {
        let address = served.address(&format!("{}{view}", path_of(&place)));
        let measured = |script: &str| -> Vec<f64> {
            let one = || window.evaluate(script).as_f64().expect("a figure");
            std::iter::repeat_with(one).take(TIMES).collect()
        };
        let paint = (0..TIMES).map(|_| {
            window.goto(&address);
            window.wait("performance.getEntriesByName('first-contentful-paint').length === 1");
            let script = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
            window.evaluate(script).as_f64().expect("a figure")
        });
        let paint = median(paint.collect());
        let key = median(measured(KEY));
        window.wait("document.getElementById('stream').dataset.is === 'live'");
        let slider = median(measured(SLIDER));
        let name = if view.is_empty() { "/overview" } else { view };
        figures
            .insert(name.to_string(), json!({ "first paint ms": paint, "key ms": key, "slider ms": slider }));
        assert!(paint < MAX_PAINT && key < MAX_INTERACTION, "{figures:?}");
    }
    let text = serde_json::to_string_pretty(&Value::Object(figures)).expect("JSON");
    eprintln!("{text}");
    if let Some(folder) = std::env::var_os("REMAND_TEST_PICTURES") {
        std::fs::write(Path::new(&folder).join("figures.json"), text).expect("kept");
    }
}
