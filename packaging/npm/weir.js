#!/usr/bin/env node
// Runs the binary of the package for this platform. Signals for this process go on to it, and it decides how both end.
"use strict";
const { spawn } = require("node:child_process");

const libc = process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl";
const platform = `${process.platform}-${process.arch}-${libc}`;

function findBinary() {
  try {
    return require.resolve(`weir-${platform}/bin/weir`);
  } catch {
    console.error(`weir: the package weir-${platform} is not installed.`);
    console.error("Install its file beside that of weir. There are packages for Linux on x64 and arm64.");
    process.exit(1);
  }
}

const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`weir: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
