// Drives Chromium for tests: one JSON command per line on standard input, one JSON answer per line on standard output.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , tools, chromium] = process.argv;
const require = createRequire(`${tools}/browser/`);
const browser = await require("playwright-core").chromium.launch({
  executablePath: chromium,
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP evil.test 127.0.0.1",
  ],
});
const pages = [];
const errors = [];

function add(page) {
  page.setDefaultTimeout(120_000);
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") errors.push(line.text()); });
  pages.push(page);
  return pages.length - 1;
}

const commands = {
  // A window of another browser profile.
  profile: async ({ options }) => add(await (await browser.newContext(options)).newPage()),
  // A second window of the same profile.
  window: async ({ page }) => add(await pages[page].context().newPage()),
  // Any method of a page.
  call: async ({ page, method, args }) => {
    const value = await pages[page][method](...args);
    if (method === "goto") return value && value.status();
    return ["string", "number", "boolean"].includes(typeof value) ? value : method === "evaluate" ? value : null;
  },
  // Not waitForFunction: it evaluates inside the page, whose policy forbids that.
  wait: async ({ page, script }) => {
    for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
      // A page that is being left has nothing to evaluate in.
      if (await pages[page].evaluate(script).catch(() => false)) return null;
    }
    throw new Error(`never: ${script}: ${await pages[page].evaluate("document.body.innerText")}`);
  },
  offline: async ({ page, is }) => { await pages[page].context().setOffline(is); return null; },
  // A page of a foreign site, which has only this text.
  foreign: async ({ page, address, html }) => {
    await pages[page].route(address, (route) => route.fulfill({ contentType: "text/html", body: html }));
    return null;
  },
  axe: async ({ page }) => {
    const source = require("node:fs").readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    await pages[page].evaluate(source);
    const found = await pages[page].evaluate("axe.run()");
    return found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
  },
  errors: async () => errors.splice(0),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { name, ...parameters } = JSON.parse(line);
  let answer;
  try { answer = { value: (await commands[name](parameters)) ?? null }; } catch (error) { answer = { error: String(error) }; }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
