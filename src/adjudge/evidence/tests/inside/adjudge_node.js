// Runs test files with node:test and reports what it says, in the words used for pytest.
//
// Run as `node -e <this text>` with a JSON order on stdin, so nothing of it lies in a file that the candidate
// could change. Each test file runs in a process of its own; this one loads nothing from the workspace. Reports
// go to the sandbox's second stream, which the processes of the test files are not given. They run as the same
// user and may find it all the same: what is reported is believed no further than twin sessions prove it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const TEXT = 2000;
const IDS_AT_ONCE = 200;

function send(report) {
  // ASCII only, as the other reporters do; a lone surrogate stays an escape.
  const line = JSON.stringify(report).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  let rest = Buffer.from(line + "\n", "latin1");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(2, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function text(value) {
  let said;
  try {
    said = String(value);
  } catch {
    said = "a message that cannot be shown";
  }
  return said.length <= TEXT ? said : said.slice(0, TEXT / 2) + "\n[...]\n" + said.slice(-TEXT / 2);
}

function message(error) {
  if (!error) return "";
  const cause = error.cause;
  if (cause && typeof cause === "object" && cause.message) return text(cause.message);
  return text(cause || error.message || error);
}

function main() {
  const order = JSON.parse(fs.readFileSync(0, "utf8"));
  if (Number(process.versions.node.split(".")[0]) < 20) {
    send({ k: "unavailable", message: "node " + process.version + " is too old; 20 is needed" });
    process.exit(3);
  }
  const { run } = require("node:test");
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("NODE_") && !order.keep_env.includes(name)) delete process.env[name];
  }
  // Otherwise the test files would be started with this very text.
  process.execArgv = [];
  const root = process.cwd();
  const relative = (file) => (file.startsWith(root + "/") ? file.slice(root.length + 1) : file);
  const files = order.files.map((file) => path.resolve(root, file));
  send({ k: "started", runner: "node:test " + process.version });

  // One file runs after the other, so what is open is the path to the test that is reported next.
  const open = [];
  const times = new Map();
  const collected = [];
  let failed = false;

  function ended(data, outcome) {
    const details = data.details || {};
    const file = typeof data.file === "string" ? data.file : "";
    const where = relative(file);
    if (outcome === "failed" && data.todo === undefined) failed = true;
    let name;
    if (data.nesting === 0 && files.includes(data.name) && data.name === file) {
      if (outcome === "failed") {
        send({ k: "uncollected", id: where, outcome, message: message(details.error) });
      }
      name = "(file)";
    } else {
      const names = open.slice(0, data.nesting);
      name = [...names, data.name].join(" > ");
    }
    if (details.type === "suite") {
      if (outcome === "failed" && (details.error || {}).failureType !== "subtestsFailed") {
        send({ k: "uncollected", id: where + "::" + name, outcome, message: message(details.error) });
      }
      return;
    }
    let id = where + "::" + name;
    const seen = (times.get(id) || 0) + 1;
    times.set(id, seen);
    if (seen > 1) id += " #" + seen;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const seconds = Number(details.duration_ms) / 1000 || 0;
    const why = skipped ? text(data.skip === true || data.skip === undefined ? "" : data.skip) : message(details.error);
    collected.push(id);
    send({
      k: "test",
      id,
      phases: [
        ["setup", "passed", false, false, 0, ""],
        ["call", skipped ? "skipped" : outcome, false, false, seconds, why],
        ["teardown", "passed", false, false, 0, ""],
      ],
    });
  }

  const stream = run({ files, concurrency: 1, timeout: order.file_timeout_s * 1000 });
  stream.on("test:start", (data) => {
    open.length = Math.min(open.length, data.nesting);
    open.push(data.name);
  });
  stream.on("test:pass", (data) => ended(data, "passed"));
  stream.on("test:fail", (data) => ended(data, "failed"));
  for (const kind of ["test:stdout", "test:stderr"]) {
    stream.on(kind, (data) => process.stdout.write(String(data.message)));
  }
  stream.on("end", () => {
    for (let at = 0; at < collected.length; at += IDS_AT_ONCE) {
      send({ k: "collected", ids: collected.slice(at, at + IDS_AT_ONCE) });
    }
    const code = failed ? 1 : 0;
    send({ k: "end", exit: code });
    process.exitCode = code;
  });
  stream.resume();
}

main();
