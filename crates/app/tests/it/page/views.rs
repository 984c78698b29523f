//! Every view of a run that is over: what was decided, found, checked, written, asked and spent, then and now.

use super::browser::Browser;
use super::live::path_of;
use super::served::Served;
use crate::place::Place;
use crate::rehearsed::{SUB, Script, finding, implemented, review, role};
use serde_json::json;

/// Text of an agent that would be a script if it were taken for HTML.
const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";

/// A run whose review sends the work back once.
pub fn corrected() -> Place {
    // Its tests are found and run for real.
    let place = Place::configured("");
    let major = finding("F-1", "major", HOSTILE);
    let better = format!("# Takes b from a.\n{SUB}");
    let script = Script::quick()
        .with(role("reviewer").round(1).says(review("code", "general", "needs-revision", &[major])))
        .with(role("implementer").round(2).writes("sums/sub.py", &better).says(implemented("")));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    place
}

// BY-11
#[test]
fn every_view_of_a_run_works_in_light_dark_and_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let place = corrected();
    let served = Served::start(&place, &[]);
    let path = path_of(&place);
    let looks = [
        ("light", json!({ "colorScheme": "light", "viewport": { "width": 1280, "height": 900 } })),
        ("dark", json!({ "colorScheme": "dark", "viewport": { "width": 1280, "height": 900 } })),
        ("phone", json!({ "colorScheme": "light", "viewport": { "width": 390, "height": 844 } })),
    ];
    for (look, options) in looks {
        let window = browser.profile(options);
        window.goto(&served.next_link(&place));
        window.wait("document.querySelector('li.run') !== null");
        let views = [
            "",
            "/timeline",
            "/rulings",
            "/findings",
            "/evidence",
            "/evidence/0",
            "/artifacts",
            "/changes",
            "/agents",
            "/costs",
            "/workflow",
        ];
        for view in views {
            assert_eq!(window.goto(&served.address(&format!("{path}{view}"))), 200, "{view}");
            assert_eq!(window.axe(), [] as [&str; 0], "{look} {view}");
            let wide = window.evaluate("document.documentElement.scrollWidth > window.innerWidth");
            assert_eq!(wide, false, "{look} {view} is wider than the window");
            window.picture(&format!("{look}{}", view.replace('/', "-")));
        }
        window.goto(&served.address("/"));
        assert_eq!(window.axe(), [] as [&str; 0], "{look}");
        assert_eq!(browser.errors(), [] as [&str; 0], "{look}");
    }
}

// BY-11
#[test]
fn a_finding_shows_its_life_and_leads_to_its_evidence_and_no_text_of_an_agent_is_html() {
    let Some(browser) = Browser::start() else { return };
    let place = corrected();
    let served = Served::start(&place, &[]);
    let path = path_of(&place);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelector('li.run') !== null");

    window.goto(&served.address(&format!("{path}/findings")));
    let life = window.text(".finding");
    assert!(life.contains(HOSTILE), "{life}");
    assert!(life.contains("Sent to implement at event"), "{life}");
    assert!(life.contains("Corrected: the reporter accepted the changed work"), "{life}");
    assert_ne!(window.call("title", json!([])), "owned");

    // The drawing counts the way back, and the remand leads to its line of the workflow.
    window.goto(&served.address(&path));
    assert_eq!(window.evaluate("document.querySelectorAll('.drawing .back.taken').length > 0"), true);
    window.goto(&served.address(&format!("{path}/rulings")));
    window.click(".ruling.back .decision a");
    window.wait("location.pathname.endsWith('/workflow') && document.querySelector(':target') !== null");
    window.call("goBack", json!([]));
    window.wait("location.pathname.endsWith('/rulings')");

    // The run as it was when the finding was sent back.
    window.click(".ruling.back .seq");
    window.wait("document.querySelector('.stage.past') !== null");
    window.click("nav.tabs a[href*='/findings']");
    window.wait("document.querySelector('.finding') !== null");
    let then = window.text(".finding");
    assert!(then.contains("Sent to implement") && !then.contains("Corrected:"), "{then}");

    // Evidence: command, exit code, whole output, and the history of a test over runs.
    window.goto(&served.address(&format!("{path}/evidence")));
    window.click("td.row a:text-is('unittest')");
    window.wait("document.querySelector('.facts') !== null");
    let facts = window.text(".facts");
    assert!(facts.contains("-m unittest") && facts.contains("exit code"), "{facts}");
    window.click(".tests a");
    window.wait("document.querySelector('#history-heading') !== null");
    assert!(window.evaluate("document.querySelectorAll('tbody tr').length").as_u64() >= Some(2));

    // Changes: a file is read when it is opened.
    window.goto(&served.address(&format!("{path}/changes")));
    assert_eq!(window.evaluate("document.querySelectorAll('.diff').length"), 0);
    window.click("details.file summary");
    window.wait("document.querySelector('.diff ins') !== null");

    // What an agent was given and answered.
    window.goto(&served.address(&format!("{path}/agents")));
    window.click("td.row a");
    window.wait("document.querySelector('#given-heading') !== null");
    window.click("summary");
    assert!(window.text("main").contains("What it answered"));
    assert_eq!(browser.errors(), [] as [&str; 0]);
}

// BY-11
#[test]
fn a_run_is_written_as_one_file_that_needs_no_script_and_no_server() {
    let Some(browser) = Browser::start() else { return };
    let place = corrected();
    let file = place.visible_file("run.html").display().to_string();
    let shown = place.remand(&["evidence", "--html", &file]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(!text.contains("<script") && !text.contains("href=\"/"), "nothing leads to the server");
    let window = browser.profile(json!({ "javaScriptEnabled": false }));
    window.call("goto", json!([format!("file://{file}")]));
    let shown = window.text("main");
    for part in [HOSTILE, "Corrected: the reporter accepted the changed work", "-m unittest", "test_sub"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let targets: std::collections::BTreeSet<&str> =
        text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for link in text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(targets.contains(link), "#{link} leads nowhere");
    }
}
