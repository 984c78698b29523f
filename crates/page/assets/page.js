// Keeps a page current: listens for changes, reads the page again, and changes the document to what it says.
"use strict";
(() => {
  const QUIET = 7000; // three beats of the server are missing
  const main = () => document.getElementById("main");
  let source = null, heard = 0, reading = null, again = false;

  const say = (state, text) => {
    const line = document.getElementById("stream");
    if (!line || line.dataset.is === state) return;
    line.dataset.is = state;
    line.textContent = text;
  };

  // Reads the page at this address, or at another one, and shows it without losing what the user types or has opened.
  async function read(address) {
    if (reading) { again = true; return reading; }
    reading = (async () => {
      const response = await fetch(address || location.href, { headers: { Accept: "text/html" } });
      const text = await response.text();
      if (response.status === 401) { location.reload(); return; }
      const page = new DOMParser().parseFromString(text, "text/html");
      const fresh = page.getElementById("main");
      if (!fresh) return;
      document.title = page.title;
      Idiomorph.morph(main(), fresh, {
        ignoreActiveValue: true,
        callbacks: {
          beforeNodeMorphed: (old, now) => {
            if (!(old instanceof Element)) return true;
            if (old.matches("details") && old.open) now.open = true;
            if (old.matches("details[data-loaded]") && now.matches("details[data-src]")) return false;
            if (old.matches("textarea, input") && old.closest("form[data-answer]")) return false;
            if (old.matches("[data-busy]")) return false;
            return true;
          },
        },
      });
      ages();
    })();
    try { await reading; } catch { say("lost", "connection lost, trying again"); } finally {
      reading = null;
      if (again) { again = false; read(); }
    }
  }

  function listen() {
    if (source) { source.close(); source = null; }
    const address = main().dataset.stream;
    if (!address) say("still", "as it was");
    if (!address || document.hidden) return;
    heard = Date.now();
    source = new EventSource(address);
    source.onopen = () => { heard = Date.now(); };
    source.addEventListener("beat", () => { heard = Date.now(); });
    source.addEventListener("state", (event) => {
      heard = Date.now();
      say("live", "live");
      // Whatever was missed, the page is behind if it shows another state.
      if (main().dataset.state !== event.data) read();
    });
    source.onerror = () => {
      say("lost", "connection lost, trying again");
      if (source && source.readyState === EventSource.CLOSED) { source.close(); source = null; }
    };
  }

  // A stream that is gone, or silent although it seems open, is opened again.
  setInterval(() => {
    if (document.hidden || !main().dataset.stream) return;
    if (source && Date.now() - heard > QUIET) { say("lost", "connection lost, trying again"); listen(); }
    else if (!source) {
      // A server that was started again does not know this window; it says so on the page itself.
      fetch(location.href, { method: "HEAD" }).then((response) => {
        if (response.status === 401) location.reload(); else listen();
      }, () => {});
    }
  }, 2000);

  // A browser has few connections per server; a window that nobody sees needs none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { if (source) source.close(); source = null; } else listen();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { read(); listen(); } });

  const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const age = (ms) => {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    const [size, unit] = units.find(([size]) => seconds >= size) || units[3];
    return `${Math.floor(seconds / size)} ${unit}`;
  };
  const two = (number) => String(number).padStart(2, "0");
  const span = (ms) => {
    const seconds = Math.max(0, Math.floor(ms / 1000)), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
    if (minutes < 1) return `${seconds} s`;
    if (hours < 1) return `${minutes} m ${two(seconds % 60)} s`;
    return `${hours} h ${two(minutes % 60)} m`;
  };
  const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  function ages() {
    const now = Date.now();
    for (const time of document.querySelectorAll("time[data-at]")) put(time, `${age(now - time.dataset.at)} ago`);
    for (const time of document.querySelectorAll("[data-since]")) put(time, span(now - time.dataset.since));
  }
  setInterval(ages, 1000);

  // Answers a gate, or asks something of a run.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form[data-answer], form[data-ask]")) return;
    event.preventDefault();
    const outcome = form.querySelector(".outcome");
    const flags = [...form.querySelectorAll("input[name=flag]:checked")].map((box) => box.value);
    const grant = form.elements.grant ? form.elements.grant.value : "";
    const answer = form.matches("[data-ask]")
      ? {}
      : { option: event.submitter ? event.submitter.value : "", note: form.elements.note.value, flags, grant };
    const buttons = form.querySelectorAll("button");
    form.dataset.busy = "";
    buttons.forEach((button) => { button.disabled = true; });
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(answer),
      });
      const text = await response.text();
      outcome.textContent = response.ok ? "Recorded." : text;
      outcome.classList.toggle("bad", !response.ok);
      if (response.ok) { delete form.dataset.busy; await read(); return; }
    } catch {
      outcome.textContent = "It did not arrive. Try again.";
      outcome.classList.add("bad");
    }
    delete form.dataset.busy;
    buttons.forEach((button) => { button.disabled = false; });
  });

  // A search and the slider show their page while they change.
  let waiting = 0;
  const follow = (form) => {
    const values = new URLSearchParams(new FormData(form));
    const kept = new URLSearchParams(location.search);
    if (form.matches("[data-replay]")) {
      const slider = form.querySelector("input[type=range]");
      kept.delete("from");
      if (slider.value === slider.max) kept.delete("at"); else kept.set("at", slider.value);
    }
    const query = (form.matches("[data-replay]") ? kept : values).toString();
    const address = location.pathname + (query ? `?${query}` : "");
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      history.replaceState(null, "", address);
      await read();
      listen();
    }, 120);
  };
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-live-form], form[data-replay]");
    if (!form) return;
    const output = form.querySelector("output .num");
    if (output && event.target.type === "range") output.textContent = event.target.value;
    follow(form);
  });

  // Parts of a page that are read when they are opened.
  document.addEventListener("toggle", async (event) => {
    const details = event.target;
    if (!details.matches || !details.matches("details[data-src]") || !details.open || details.dataset.loaded !== undefined) return;
    const place = details.querySelector(".lazy");
    details.dataset.loaded = "";
    try {
      const response = await fetch(details.dataset.src);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const found = page.querySelector(".fragment");
      if (found) place.replaceChildren(found); else throw new Error();
    } catch {
      delete details.dataset.loaded;
      place.textContent = "This part could not be read. Close it and open it again.";
    }
  }, true);

  // Keys: / searches, g h goes home, j and k move through rows.
  let prefix = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    const rows = [...document.querySelectorAll("a.title, .ruling > a.seq, .row > a")];
    const at = rows.indexOf(document.activeElement);
    const go = (to) => { const row = rows[Math.max(0, Math.min(rows.length - 1, to))]; if (row) row.focus(); };
    if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) { event.preventDefault(); search.focus(); }
    } else if (event.key === "j") go(at + 1);
    else if (event.key === "k") go(at < 0 ? 0 : at - 1);
    else if (prefix === "g" && event.key === "h") location.href = "/";
    prefix = event.key;
  });

  // Shows the box at which the run is, and the end of a transcript.
  const box = document.querySelector(".drawing .here");
  if (box) {
    const frame = box.closest(".drawing"), at = box.getBoundingClientRect(), around = frame.getBoundingClientRect();
    frame.scrollTo(at.left - around.left - around.width / 3, at.top - around.top - around.height / 3);
  }
  const follow_end = document.querySelector("[data-follow] pre");
  if (follow_end) {
    follow_end.scrollTop = follow_end.scrollHeight;
    new MutationObserver(() => { follow_end.scrollTop = follow_end.scrollHeight; }).observe(follow_end, { childList: true, characterData: true, subtree: true });
  }

  ages();
  listen();
})();
