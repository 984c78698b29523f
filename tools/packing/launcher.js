#!/usr/bin/env node
// Starts the program of this platform, which is in a package of its own, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `remand-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/remand`);
} catch {
  console.error(`error: the package ${name} is not installed`);
  console.error(
    "hint: Remand has programs for linux-x64, linux-arm64 and darwin-arm64. If yours is one of them, install again " +
      "without --omit=optional.",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// A terminal sends these to both processes, and the program decides what they mean. A service sends SIGTERM to this one only.
for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP"]) process.on(signal, () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));

child.on("error", (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exit(70);
});
child.on("exit", (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal]);
});
